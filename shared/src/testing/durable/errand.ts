import { appendFileSync } from "node:fs";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Run, RunDefinition } from "../../core/runs/run.ts";

/**
 * A flow that uses every verb and writes a line to a file for every effect, so that effects can be
 * counted from outside, whatever process they happened in.
 */
export function errand(effectsFile: string, stepMs: number): RunDefinition {
  const step = (run: Run, name: string, value: Json) =>
    run.step(name, async (context) => {
      appendFileSync(effectsFile, `${context.key} ${name}\n`);
      context.emit({ type: "stepped", name });
      context.emit({ type: "model-asked", callId: name, usage, model: "m", milliseconds: 1 });
      if (stepMs > 0) await Bun.sleep(stepMs);
      return value;
    });
  return {
    kind: "errand",
    async execute(run, input) {
      run.emit({ type: "begun" });
      const serial: Json[] = [];
      for (let n = 0; n < 5; n++) serial.push(await step(run, `serial-${n}`, n));
      const parallel = await run.all<Json>(
        [0, 1, 2].map((n) => async (own) => [await step(own, `parallel-${n}`, n), await step(own, `then-${n}`, n)]),
      );
      const charged = await chargeOnce(run, effectsFile);
      await run.sleep(20);
      const answer = await run.race<Json>([
        (own) => own.signal("answer", { reason: "input-required", events: [{ type: "question-asked" }] }),
        (own) => own.sleep(3_600_000).then(() => "timeout"),
      ]);
      const notes = await run.poll("note");
      run.emit({ type: "answered" });
      return { input, serial, parallel, charged, answer, notes };
    },
  };
}

/**
 * An effect that must never happen twice: "charged", or "interrupted" if its process died in the
 * middle.
 */
async function chargeOnce(run: Run, effectsFile: string): Promise<string> {
  try {
    return await run.step(
      "charge",
      async (context) => {
        appendFileSync(effectsFile, `${context.key} charge\n`);
        return "charged";
      },
      { effect: "once" },
    );
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0.5, source: "provider" };

/** What an errand uses. */
export const errandUsage = { tokens: 22, usd: 5.5 };

/** What an errand must return; `charged` depends on where its process was killed. */
export const errandOutput = {
  serial: [0, 1, 2, 3, 4],
  parallel: [
    [0, 0],
    [1, 1],
    [2, 2],
  ],
  answer: "yes",
  notes: ["n"],
};

/** The events of an errand, in any order its parallel steps allow. */
export const errandEvents = [
  "begun",
  ...["serial-0", "serial-1", "serial-2", "serial-3", "serial-4"],
  ...["parallel-0", "parallel-1", "parallel-2", "then-0", "then-1", "then-2"],
  ...Array.from({ length: 11 }, () => "model-asked"),
  "question-asked",
  "answered",
  "run-ended",
];
