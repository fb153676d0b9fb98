/** What a change of the network made of the schedule; nothing where nothing was changed. */
export const Difference = () => null;
