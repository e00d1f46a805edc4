import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Run, RunDefinition } from "../../core/runs/run.ts";

/**
 * A body as data: a tree of durable operations, so that any tree can be executed, killed anywhere,
 * and compared with a simulation.
 */
export type Program = readonly Operation[];
/** One operation of a program. */
export type Operation =
  | { readonly do: "step"; readonly value: number }
  | { readonly do: "fail"; readonly message: string }
  | { readonly do: "sleep"; readonly milliseconds: number }
  | { readonly do: "signal"; readonly name: string }
  | { readonly do: "emit"; readonly value: number }
  | { readonly do: "all"; readonly branches: readonly Program[] }
  /** A branch that ends against one that takes some steps and then waits forever. */
  | { readonly do: "race"; readonly branch: Program; readonly loser: readonly number[] }
  /**
   * A branch that fails beside one that takes some steps and then waits forever; the failure is
   * caught.
   */
  | { readonly do: "failing-all"; readonly value: number; readonly loser: readonly number[] };

/** The effect of a program's step: records a trace, may take time, and returns the value. */
export type Effect = (key: string, value: number) => Promise<number>;

/** The definition that executes the program given as a run's input. */
export function programDefinition(kind: string, effect: Effect): RunDefinition {
  return { kind, execute: (run, input) => interpret(input as Program, run, effect) };
}

/** The payload that answers a program's wait for this name. */
export function payloadOf(name: string): string {
  return `<${name}>`;
}

async function interpret(program: Program, run: Run, effect: Effect): Promise<Json[]> {
  const results: Json[] = [];
  for (const operation of program) results.push(await perform(operation, run, effect));
  return results;
}

async function perform(operation: Operation, run: Run, effect: Effect): Promise<Json> {
  switch (operation.do) {
    case "step":
      return run.step("step", (step) => effect(step.key, operation.value));
    case "fail":
      return codeOf(run.step("fail", () => Promise.reject(new AppError("stuck", operation.message))));
    case "sleep":
      await run.sleep(operation.milliseconds);
      return "slept";
    case "signal":
      return run.signal(operation.name);
    case "emit":
      run.emit({ type: "emitted", value: operation.value });
      return null;
    case "all":
      return run.all<Json>(operation.branches.map((branch) => (own) => interpret(branch, own, effect)));
    case "race":
      return run.race<Json>([
        (own) => lose(operation.loser, own, effect),
        (own) => interpret(operation.branch, own, effect),
      ]);
    case "failing-all":
      return codeOf(
        run.all<Json>([
          (own) => lose(operation.loser, own, effect),
          async (own) => {
            await own.step("step", (step) => effect(step.key, operation.value));
            throw new AppError("stuck", "one branch failed");
          },
        ]),
      );
  }
}

async function lose(values: readonly number[], run: Run, effect: Effect): Promise<Json> {
  for (const value of values) await run.step("step", (step) => effect(step.key, value));
  return run.signal("never");
}

/** What the program's run must return, whatever happens to the processes that execute it. */
export function simulate(program: Program): Json[] {
  return program.map(resultOf);
}

function resultOf(operation: Operation): Json {
  switch (operation.do) {
    case "step":
      return operation.value;
    case "fail":
    case "failing-all":
      return "stuck";
    case "sleep":
      return "slept";
    case "signal":
      return payloadOf(operation.name);
    case "emit":
      return null;
    case "all":
      return operation.branches.map(simulate);
    case "race":
      return simulate(operation.branch);
  }
}

/** Every operation of the program, branches included. */
export function* operationsOf(program: Program): Generator<Operation> {
  for (const operation of program) {
    yield operation;
    if (operation.do === "all") for (const branch of operation.branches) yield* operationsOf(branch);
    if (operation.do === "race") yield* operationsOf(operation.branch);
  }
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "none";
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
