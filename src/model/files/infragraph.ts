/**
 * What the description of an InfraGraph file of ours begins with, where the network or nodes have names that are none there: the
 * network's name follows, and instances are described by the names of their nodes.
 */
export const NAMES_IN_DESCRIPTIONS = "names are in descriptions: ";
