import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { commandsHere } from "../../support/cli-here.ts";
import { sharedFiles, sharedText } from "../../support/shared-data.ts";
import { describeApp, PATIENCE } from "./with-app.ts";

const here = commandsHere();
const fixture = (name: string): string => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), "utf8");

const REAL = "nccl-topo/nvidia-smi";
/** With the model that the table does not tell. */
const tables: readonly (readonly [name: string, text: string, gpu: string | null, npus: number])[] = [
  ["two-boards.txt", fixture("two-boards.nvidia-smi.txt"), "a100", 4],
  ...sharedFiles(REAL)
    .filter((name) => name === "hgx-h100-8gpu.txt")
    .map((name) => [name, sharedText(`${REAL}/${name}`), null, 8] as const),
];

describeApp("files in the app", (tools) => {
  it.each(tables)(
    "takes what nvidia-smi prints (%s) to a program that banyan verify accepts",
    PATIENCE,
    async (name, text, gpu, npus) => {
      const app = await tools().open("#topology=ring:4&collective=allreduce&size=16MiB&algorithm=forestcoll");
      await app.drop(name, text);
      if (gpu !== null) {
        await app.shows(new RegExp(`--gpu.*${name}`));
        await app.page.getByLabel("Model of the GPUs").fill(gpu);
        await app.page.getByRole("button", { name: "Read it again" }).click();
      }
      await app.shows(new RegExp(`^${npus} NPUs`));
      await app.page.getByText(/^How it was read, and what was assumed \(\d+\)$/).click();
      await app.shows(/^GPUs taken as|^Each NVLink/);
      expect(await app.synthesize()).toMatch(/^The all-reduce of 16 MiB by forestcoll .* verified/);
      await app.page.getByText(/^Why, how, and the same/).click();
      await app.page.getByRole("heading", { name: "The same file on the command line" }).waitFor();
      const [input] = await Promise.all([
        app.page.waitForEvent("download"),
        app.page.getByRole("button", { name: `Save ${name}` }).click(),
      ]);
      expect(readFileSync(await input.path(), "utf8")).toBe(text);
      const saved = await app.download(/^msccl-xml$/);
      expect(saved.name).toMatch(/\.xml$/);
      here.put("program.xml", saved.text);
      expect(await here.run("verify program.xml")).toMatch(/^correct: .* allreduce of /);
      await app.close();
    },
  );

  it("opens the schedule that it saved, as another browser's user would", PATIENCE, async () => {
    const app = await tools().open("#topology=mesh:3x3&collective=allgather&size=9MiB&algorithm=tacos");
    const sentence = await app.synthesize();
    const { name, text } = await app.download(/^(json|schedule|banyan)\b/);
    await app.close();
    const other = await tools().open();
    await other.drop(name, text);
    expect(await other.answer(/all-gather/)).toContain(
      sentence
        .replace(/ by \w+/, "")
        .split(" takes ")[1]
        ?.split(" (")[0] ?? "-",
    );
    await other.close();
  });

  it("asks in its form for what a schedule is that was opened, also after a reload", PATIENCE, async () => {
    await here.run("synth dgx-h100:1 --collective allreduce --size 16MiB --algorithm nvls --quiet -o nvls.json");
    const app = await tools().open();
    await app.drop("nvls.json", readFileSync(here.at("nvls.json"), "utf8"));
    const follows = async (): Promise<void> => {
      await app.answer(/^nvls\.json: The all-reduce of 16 MiB takes /);
      await app.shows(/^Expect less of real switches that sum: /);
      const form = app.page.getByRole("complementary", { name: "What is asked" });
      await expect.poll(() => form.getByLabel("Collective").inputValue()).toBe("allreduce");
      await expect.poll(() => form.getByRole("textbox", { name: "Size" }).inputValue()).toBe("16MiB");
      await expect.poll(() => form.getByLabel("Algorithm").inputValue()).toBe("nvls");
      expect(await app.page.getByText("Out of date").count()).toBe(0);
    };
    await follows();
    await expect.poll(() => app.page.evaluate(() => location.hash)).toContain("collective=allreduce&size=16MiB");
    await app.page.reload();
    await follows();
    await app.close();
  });

  it.each([
    ["no-network.json", '{"format": "banyan-topology", "version": 1}'],
    ["cut.json", fixture("two-boxes.topology.json").slice(0, 300)],
    ["noise.bin", "\u0000\u0001\u0002 nothing that is known"],
    ["empty.txt", ""],
  ])("says what is wrong with %s beside the files, and keeps what was there", PATIENCE, async (name, text) => {
    const app = await tools().open("#topology=ring:6&collective=allgather&size=1MiB&algorithm=tacos");
    const sentence = await app.synthesize();
    await app.drop(name, text);
    const alert = app.page.getByRole("alert").filter({ hasText: `${name} was not opened` });
    expect((await alert.innerText()).length).toBeGreaterThan(name.length + 30);
    expect(await app.answer()).toBe(sentence);
    await app.shows(/^6 NPUs/);
    await app.close();
  });

  it(
    "says what can be read where a file cannot be, and lets go of it when a text is to be pasted",
    PATIENCE,
    async () => {
      const app = await tools().open();
      await app.drop("tool.bin", "\u0000\u0001\u0002");
      await app.shows(/tool\.bin was not opened\. .*text in UTF-8/);
      await app.page.getByRole("button", { name: "What can be read" }).click();
      const told = app.page.getByRole("dialog", { name: "What can be read" });
      await told.getByText('"format": "banyan-topology"').waitFor();
      await app.page.keyboard.press("Escape");
      await app.page.getByRole("button", { name: "Paste text" }).click();
      await app.page.keyboard.press("Escape");
      await app.page.getByText("tool.bin").waitFor({ state: "detached" });
      await app.close();
    },
  );

  it("shows a program with its verdict", PATIENCE, async () => {
    const app = await tools().open();
    await app.drop("msccl-fused.xml", fixture("msccl-fused.xml"));
    await app.page.getByRole("region", { name: /^Program / }).waitFor();
    await app.shows(/verified|violation/);
    await app.close();
  });

  it("simulates a program on the network that is shown, and offers one that has as many NPUs", PATIENCE, async () => {
    const app = await tools().open("#topology=ring:4&collective=allgather&size=3MiB");
    await app.drop("msccl-fused.xml", fixture("msccl-fused.xml"));
    const opened = app.page.getByRole("region", { name: "Program msccl-fused.xml" });
    await opened.getByText("It is for 3 GPUs, but ring:4 has 4 NPUs.").waitFor();
    await opened.getByText("The views below show ring:4, not this program.").waitFor();
    await opened.getByRole("button", { name: "ring:3" }).click();
    const time = await opened.getByText(/^On ring:3 it takes /).innerText();
    here.put("fused.xml", fixture("msccl-fused.xml"));
    const told = await here.run("simulate fused.xml --topology ring:3 --size 3MiB");
    expect(time).toContain(/ program +([\d.]+ \w+)/.exec(told)?.[1]?.replace(" us", " µs"));
    await app.drop("wrong.xml", fixture("msccl-fused.xml").replace("<step ", "<stp "));
    const wrong = app.page.getByRole("region", { name: "Program wrong.xml" });
    await wrong.getByText(/<stp> in <tb> is unknown/).waitFor();
    await wrong.getByText("A program that is wrong is not simulated on ring:3.").waitFor();
    await app.showView("Time");
    await app.shows("This view shows a schedule of ring:3, not wrong.xml; there is none yet.");
    await app.close();
  });
});
