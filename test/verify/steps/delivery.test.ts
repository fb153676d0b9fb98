import fc from "fast-check";
import { expect, it } from "vitest";
import { describer } from "../../../src/verify/describe.ts";
import { checkDelivery } from "../../../src/verify/steps/delivery.ts";
import { recorder } from "../../../src/verify/violation.ts";
import { anySchedule } from "../../support/any-schedule.ts";

it("finds the same however many transfers are sorted at once", () => {
  fc.assert(
    fc.property(anySchedule(), fc.integer({ min: 1, max: 9 }), (schedule, most) => {
      const [all, few] = [recorder(50), recorder(50)];
      checkDelivery(schedule, all, describer(schedule));
      checkDelivery(schedule, few, describer(schedule), most);
      expect(few.kept).toEqual(all.kept);
      expect(few.count()).toBe(all.count());
    }),
  );
});
