import { afterEach, beforeEach, describe } from "bun:test";
import type { Cases, ConformanceStore } from "./conformance/cases.ts";
import { endingCases } from "./conformance/ending.ts";
import { signalCases } from "./conformance/signals.ts";
import { startingCases } from "./conformance/starting.ts";
import { stepCases } from "./conformance/steps.ts";
import { waitingCases } from "./conformance/waiting.ts";

/** What every engine must hold, whatever it stands on. Call it in a test file with a way to make a fresh store. */
export function engineConformance(name: string, createStore: () => Promise<ConformanceStore>): void {
  describe(name, () => {
    let store: ConformanceStore;
    beforeEach(async () => {
      store = await createStore();
    });
    afterEach(() => store.dispose());

    const cases: Cases = {
      open: () => store.open(),
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
  });
}
