import type { NamedProgram } from "./program-campaign.ts";

export const loweredPrograms = async (): Promise<NamedProgram[]> => [];
