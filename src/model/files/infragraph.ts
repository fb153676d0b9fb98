/** The description of an InfraGraph file of ours whose instances are described by the names of their nodes, which are no names there. */
export const NAMES_IN_DESCRIPTIONS = "descriptions of instances are names of nodes";
