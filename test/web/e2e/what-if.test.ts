import { expect, it } from "vitest";
import { describeApp, PATIENCE } from "./with-app.ts";

const MESH = "#topology=mesh:3x3&collective=allgather&size=9MiB&algorithm=tacos";

describeApp("what if, in the app", (tools) => {
  it("fails a link: the schedule follows, and the difference is stated", PATIENCE, async () => {
    const app = await tools().open(MESH);
    const whole = await app.synthesize();
    await app.find("0-1");
    await app.page
      .getByRole("button", { name: /^fails/ })
      .first()
      .click();
    await app.page.waitForURL(/without=0-1&.*run=1$/);
    const difference = app.page.getByRole("region", { name: "What if" });
    await difference
      .getByRole("status")
      .getByText(/^It takes [\d.]+ % longer: .+ before, .+ now\. The limit was .+ and is .+\.$/)
      .waitFor();
    expect(await app.answer()).not.toBe(whole);
    await difference.getByRole("button", { name: /^Restore all/ }).click();
    await difference.waitFor({ state: "detached" });
    await app.idle();
    await expect.poll(() => app.answer()).toBe(whole);
    await app.close();
  });

  it("says that no schedule exists where a failure cuts the network", PATIENCE, async () => {
    const app = await tools().open("#topology=mesh:2x1&collective=allgather&size=1MiB&algorithm=tacos");
    await app.synthesize();
    await app.find("0-1");
    await app.page
      .getByRole("button", { name: /^fails/ })
      .first()
      .click();
    await app.shows(/No schedule exists any more/);
    await app.ready();
    await app.close();
  });

  it("makes the difference again from a link", PATIENCE, async () => {
    const app = await tools().open(`${MESH}&without=0-1&run=1`);
    await app.answer();
    await app.page.getByRole("button", { name: "Make it to compare" }).click();
    await app.shows(/^It takes [\d.]+ % longer/);
    await app.close();
  });
});
