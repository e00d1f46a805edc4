import fc from "fast-check";
import type { Program } from "./program.ts";

/** Random programs with these sleep durations. */
export function programs(sleeps: readonly number[]): fc.Arbitrary<Program> {
  const loser = fc.array(fc.nat(99), { maxLength: 4 });
  return fc.letrec<{ operation: Program[number]; program: Program }>((tie) => ({
    operation: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.record({ do: fc.constant("step" as const), value: fc.integer({ min: 0, max: 99 }) }),
      fc.record({ do: fc.constant("fail" as const), message: fc.string() }),
      fc.record({ do: fc.constant("emit" as const), value: fc.integer({ min: 0, max: 99 }) }),
      fc.record({ do: fc.constant("sleep" as const), milliseconds: fc.constantFrom(...sleeps) }),
      fc.record({ do: fc.constant("signal" as const), name: fc.constantFrom("a", "b") }),
      fc.record({ do: fc.constant("failing-all" as const), value: fc.nat(99), loser }),
      fc.record({ do: fc.constant("all" as const), branches: fc.array(tie("program"), { maxLength: 3 }) }),
      fc.record({ do: fc.constant("race" as const), branch: tie("program"), loser }),
    ),
    program: fc.array(tie("operation"), { maxLength: 4 }),
  })).program;
}
