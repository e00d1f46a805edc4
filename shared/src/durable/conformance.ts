import { afterEach, beforeEach, describe } from "bun:test";
import { bodyCases } from "./conformance/bodies.ts";
import { branchCases } from "./conformance/branches.ts";
import { cancellingCases } from "./conformance/cancelling.ts";
import type { Cases, ConformanceStore } from "./conformance/cases.ts";
import { changedCodeCases } from "./conformance/changed-code.ts";
import { deletingCases } from "./conformance/deleting.ts";
import { drainingCases } from "./conformance/draining.ts";
import { endingCases } from "./conformance/ending.ts";
import { followingCases } from "./conformance/following.ts";
import { limitingCases } from "./conformance/limiting.ts";
import { listingCases } from "./conformance/listing.ts";
import { interruptedCases } from "./conformance/once.ts";
import { owningCases } from "./conformance/owning.ts";
import { signalRaceCases } from "./conformance/races-for-signals.ts";
import { replayCases } from "./conformance/replay.ts";
import { sharingCases } from "./conformance/sharing.ts";
import { signalCases } from "./conformance/signals.ts";
import { sleepingCases } from "./conformance/sleeping.ts";
import { startingCases } from "./conformance/starting.ts";
import { stepCases } from "./conformance/steps.ts";
import { waitingCases } from "./conformance/waiting.ts";
import { watchingCases } from "./conformance/watching.ts";

/**
 * The tests that every engine must pass, whatever its store. Call it in a test file with a function
 * that makes a fresh store.
 */
export function engineConformance(name: string, createStore: () => Promise<ConformanceStore>): void {
  describe(name, () => {
    let store: ConformanceStore;
    beforeEach(async () => {
      store = await createStore();
    });
    afterEach(() => store.dispose());

    const cases: Cases = {
      open: (options) => store.open(options),
      get isFile() {
        return store.isFile;
      },
      asked: async (runs) => await store.asked?.(runs),
      working(execute, options) {
        const engine = store.open();
        engine.work([{ kind: "test", execute }], options);
        return engine;
      },
    };
    startingCases(cases);
    endingCases(cases);
    stepCases(cases);
    signalCases(cases);
    waitingCases(cases);
    replayCases(cases);
    changedCodeCases(cases);
    bodyCases(cases);
    interruptedCases(cases);
    branchCases(cases);
    signalRaceCases(cases);
    sleepingCases(cases);
    cancellingCases(cases);
    drainingCases(cases);
    followingCases(cases);
    listingCases(cases);
    sharingCases(cases);
    watchingCases(cases);
    owningCases(cases);
    limitingCases(cases);
    deletingCases(cases);
  });
}
