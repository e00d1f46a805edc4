import { type Caller, callerNamed } from "manyhands/internal/core/caller";
import type { RestEndpoint } from "../rest/endpoint.ts";
import { restApp } from "../rest/rest-app.ts";

/** REST endpoints as an app for one caller, how to send it JSON, and the bugs it reported. */
export function restForTest(endpoints: readonly RestEndpoint[], caller: Caller = callerNamed("ann")) {
  const reported: unknown[] = [];
  const app = restApp(endpoints, { identify: () => caller, report: (bug) => reported.push(bug) });
  const ask = async (method: string, path: string, init: RequestInit & { readonly json?: unknown } = {}) => {
    const { json, headers, ...rest } = init;
    return app.request(path, {
      method,
      headers: { ...(json !== undefined && { "Content-Type": "application/json" }), ...(headers as object) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...rest,
    });
  };
  return { app, ask, reported };
}

/** Functions with these answers, and the calls they got: each as its name and its arguments. */
export function noting<Answers extends Readonly<Record<string, unknown>>>(answers: Answers) {
  const asked: [string, ...unknown[]][] = [];
  const functions = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      async (...given: unknown[]) => {
        asked.push([name, ...given]);
        return answer;
      },
    ]),
  );
  return {
    asked,
    functions: functions as { [Name in keyof Answers]: (...given: unknown[]) => Promise<Answers[Name]> },
  };
}
