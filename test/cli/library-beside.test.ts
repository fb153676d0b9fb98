import { expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();

it("a program by an algorithm that was named is set beside what the library takes by itself, as compare has it", async () => {
  const sized = "ring:4 -c allreduce";
  const compared = await here.json(`compare ${sized} --sizes 16MiB --algorithms ring,direct --target mpi`);
  // the best of what Open MPI and MPICH can be told
  const library = Math.min(...compared.settings.map(({ best }: { best: { us: number } }) => best.us));
  for (const [algorithm, words] of [
    ["ring", "[\\d.]+ x as fast"],
    ["direct", "a tie"],
  ] as const) {
    const line = `export ${sized} -a ${algorithm} -s 16MiB --to mpi -o ${algorithm}.plan`;
    const written = await here.json(line);
    const row = compared.rows.find((one: { algorithm: string }) => one.algorithm === algorithm);
    expect([written.us, written.library.us]).toEqual([row.programUs, library]);
    const said = written.notes.filter((note: string) => note.startsWith("library "));
    expect(said).toEqual([
      expect.stringMatching(`^library [\\d.]+ [mu]s \\(.* of (Open MPI|MPICH)\\), this [\\d.]+ [mu]s: ${words}$`),
    ]);
  }
});
