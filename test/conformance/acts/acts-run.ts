import { faultsOf, holds, streamFaults, valueAt } from "./acts-assert.ts";
import { type ActsAnswer, type ActsBinding, type ActsServer, callOperation, callRaw } from "./acts-call.ts";
import type { ActsStep, ActsTest } from "./acts-suite.ts";

/** What a test came to; a skipped one says why. */
export type ActsOutcome =
  | { readonly result: "passed" }
  | { readonly result: "failed"; readonly faults: readonly string[] }
  | { readonly result: "skipped"; readonly why: string };

/** The server under test. */
export type ActsSubject = ActsServer & {
  readonly binding: ActsBinding;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly variables: Readonly<Record<string, string>>;
};

/** Runs a test's steps until one fails. */
export async function runTest(test: ActsTest, subject: ActsSubject): Promise<ActsOutcome> {
  const why = skipped(test, subject);
  if (why !== undefined) return { result: "skipped", why };
  const variables: Record<string, unknown> = { ...subject.variables };
  for (const step of test.steps) {
    const faults = await runStep(step, subject, variables);
    if (faults.length > 0) return { result: "failed", faults: faults.map((fault) => `${step.id}: ${fault}`) };
  }
  return { result: "passed" };
}

function skipped({ transport, preconditions, steps }: ActsTest, { binding, capabilities }: ActsSubject) {
  if (transport !== undefined && !transport.includes(binding)) return `over ${transport} only`;
  if (binding === "grpc" && steps.some((step) => step.raw !== undefined)) return "raw HTTP";
  if (steps.some((step) => step.client_response !== undefined)) return "of a client";
  const wanted = Object.entries(preconditions?.capabilities ?? {});
  // The draft does not say so of every test that streams.
  const streams = preconditions?.capabilities?.streaming !== false && steps.some((step) => step.expect_stream);
  if (streams && capabilities.streaming !== true) return "streams";
  return wanted.find(([name, value]) => (capabilities[name] ?? false) !== value)?.[0];
}

async function runStep(step: ActsStep, subject: ActsSubject, variables: Record<string, unknown>): Promise<string[]> {
  const { operation, params, raw, repeat, ...expected } = filled(step, variables);
  const call = () =>
    raw === undefined
      ? callOperation(subject, subject.binding, operation ?? "", params ?? {})
      : callRaw(subject.url, raw);
  let answer = await call();
  for (let n = 1; repeat !== undefined && !holds(answer.body, repeat.until); n++) {
    if (n >= (repeat.max_attempts ?? 10)) return [`never ${repeat.until}`];
    await Bun.sleep(repeat.delay_ms ?? 1_000);
    answer = await call();
  }
  for (const [name, path] of Object.entries(expected.capture ?? {}))
    variables[`${step.id}.${name}`] = valueAt(answer.events?.[0] ?? answer.body, path);
  return faultsIn(answer, expected);
}

function faultsIn(answer: ActsAnswer, { expect, expect_error: wrong, expect_stream: stream }: ActsStep): string[] {
  if (wrong !== undefined) {
    if (answer.error === undefined) return ["no error"];
    const { error_type: type = wrong.code, message } = wrong;
    return [
      ...(type === undefined ? [] : faultsOf(answer.error.type, type, "the error")),
      ...(message === undefined ? [] : faultsOf(answer.error.message, message, "the message")),
    ];
  }
  if (stream !== undefined) return answer.events === undefined ? ["no stream"] : streamFaults(answer.events, stream);
  // Some tests of the draft have the body's fields beside the status.
  const { status, body = {}, ...beside } = expect ?? {};
  const isFailure = status === "error" && answer.error !== undefined;
  return [
    ...(status === undefined || isFailure ? [] : faultsOf(answer.status, status, "the status")),
    ...faultsOf(answer.body, { ...(body as object), ...beside }),
  ];
}

/** The step with its variables filled in. */
function filled(step: ActsStep, variables: Readonly<Record<string, unknown>>): ActsStep {
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one)]));
    if (typeof value !== "string") return value;
    return value.replaceAll(/\{\{([^}]+)\}\}/g, (_, name: string) =>
      name === "$uuid" ? crypto.randomUUID() : String(variables[name]),
    );
  };
  return fill(step) as ActsStep;
}
