import { expect, test } from "bun:test";
import { ServerCallContext } from "@a2a-js/sdk/server";
import { callerNamed } from "../../core/caller.ts";
import { hitlExtension } from "../extensions.ts";
import { activateRequired, callFacts, httpCall, wireOf } from "./call-context.ts";

const ours = ["journal", "agent", "dedupe", "usage", "budget"].map((name) => `urn:manyhands:${name}:1`);
const [journal = "", , dedupe = ""] = ours;
const foreign = "https://other.example/ext";
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

function called(headers: Record<string, string> = {}, version: "1.0" | "0.3" = "1.0", signal?: AbortSignal) {
  const request = new Request("http://a.example/", { headers, ...(signal && { signal }) });
  return httpCall(request, callerNamed("ann", ["read"]), version);
}

test("every extension that is offered is active for who names it, no other is, and the answer says which are", () => {
  const all = [...ours, hitlExtension];
  for (const uri of all)
    expect(called({ "A2A-Extensions": `${foreign}, ${uri}` }).headers()).toEqual({ "A2A-Extensions": uri });
  expect(
    called({ "A2A-Extensions": all.join(",") })
      .headers()
      ["A2A-Extensions"]?.split(/, */),
  ).toEqual(all);
  for (const none of [{}, { "A2A-Extensions": "" }, { "A2A-Extensions": foreign }])
    expect(called(none as never).headers()).toEqual({});
});

test("old clients name extensions in their own header, which is also read from new ones, and are answered in it", () => {
  const old = { "X-A2A-Extensions": journal };
  expect(called(old, "0.3").headers()).toEqual({ "X-A2A-Extensions": journal });
  expect(called(old).headers()).toEqual({ "A2A-Extensions": journal });
  expect(called({ ...old, "A2A-Extensions": dedupe }).headers()).toEqual({ "A2A-Extensions": dedupe });
  expect([wireOf(called({}, "0.3").context), wireOf(called().context)]).toEqual(["0.3", "1.0"]);
});

test("a call has its caller, what it has activated, its place and its trace, each only if it has one", () => {
  const { signal: _, ...plain } = callFacts(called().context);
  const known = { principal: "ann", scopes: new Set(["read"]) };
  expect(plain).toEqual({ ...known, journal: false, dedupe: false, hitl: false } as never);
  const headers = { "A2A-Extensions": `${journal}, ${dedupe}, ${hitlExtension}`, "Last-Event-ID": "7", traceparent };
  const { signal: __, ...full } = callFacts(called(headers).context);
  expect(full).toEqual({
    ...known,
    journal: true,
    dedupe: true,
    hitl: true,
    after: 7,
    trace: { traceparent },
  } as never);
  const places = ["0", "999999999999999", "1000000000000000", "-1", "1.5", "x", ""].map(
    (id) => callFacts(called({ "Last-Event-ID": id }).context).after,
  );
  expect(places).toEqual([0, 999_999_999_999_999, undefined, undefined, undefined, undefined, undefined]);
  expect(() => callFacts(new ServerCallContext({}))).toThrow("not made by httpCall");
});

test("what watches for a call ends when its client leaves, and when its answer is done", () => {
  const client = new AbortController();
  const left = called({}, "1.0", client.signal);
  expect(callFacts(left.context).signal.aborted).toBe(false);
  client.abort();
  expect(callFacts(left.context).signal.aborted).toBe(true);
  const answered = called();
  answered.release();
  expect(callFacts(answered.context).signal.aborted).toBe(true);
});

test("a required extension has to be named, ours or another's, and is active then", () => {
  for (const uri of [journal, foreign]) {
    expect(() => activateRequired(called().context, [uri])).toThrow(uri);
    const call = called({ "A2A-Extensions": uri });
    activateRequired(call.context, [uri]);
    expect(call.headers()).toEqual({ "A2A-Extensions": uri });
  }
  expect(() => activateRequired(called({ "A2A-Extensions": journal }).context, [journal, foreign])).toThrow(foreign);
  activateRequired(called().context, []);
});
