import { expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();

it("a program by an algorithm that was named is set beside what the library takes by itself, as compare has it", async () => {
  const sized = "ring:4 -c allreduce";
  const compared = await here.json(`compare ${sized} --sizes 16MiB --algorithms ring,direct --target mpi`);
  const library = Math.min(...compared.rows.map(({ libraryUs }: { libraryUs: number }) => libraryUs));
  for (const [algorithm, words] of [
    ["ring", "a tie"],
    ["direct", "the library is the better choice"],
  ] as const) {
    const line = `export ${sized} -a ${algorithm} -s 16MiB --to mpi -o ${algorithm}.plan`;
    const written = await here.json(line);
    const row = compared.rows.find((one: { algorithm: string }) => one.algorithm === algorithm);
    expect([written.us, written.library.us]).toEqual([row.programUs, library]);
    const said = written.notes.filter((note: string) => note.startsWith("library "));
    expect(said).toEqual([
      expect.stringMatching(`^library [\\d.]+ [mu]s \\(.* of MPI\\), this [\\d.]+ [mu]s: ${words}$`),
    ]);
  }
});
