import { echo, type TestFlow } from "./gateway.ts";

/**
 * A flow that reports as many lines as its input says, each of a few kilobytes, a few at a time.
 */
export const chatter: TestFlow = {
  runnable: { ...echo, name: "chatter", kind: "chatter", title: "Chatter" },
  async execute(run, input) {
    const [, count = "0"] = /tell (\d+)/.exec(JSON.stringify(input)) ?? [];
    for (let n = 0; n < Number(count); n++) {
      run.emit({ type: "notice-given", kind: "budget", text: `${n} ${"é".repeat(n % 4000)}` });
      if (n % 50 === 0) await run.step("breathe", () => Bun.sleep(5).then(() => null));
    }
    return { answer: "told" };
  },
};
