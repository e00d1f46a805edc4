import { expect, test } from "bun:test";
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai";
import { ModelFailure } from "../model-failure.ts";
import { classify, failureOf, redactKeys } from "./classify.ts";

const hidden: [string, string, string][] = [
  ["the key in use, whatever it looks like", "bad key hunter22 given", "bad key [key] given"],
  ["a key of a known look", "Incorrect API key provided: sk-proj-ab12****wxyz.", "Incorrect API key provided: [key]"],
  ["a bearer token", 'header "Authorization: Bearer abc.def" refused', 'header "Authorization: [key]" refused'],
  ["a key in a query", "GET https://x/v1?api-key=abc&v=1 failed", "GET https://x/v1?api-key=[key]&v=1 failed"],
  [
    "nothing where nothing is",
    "The task-force asked for a monkey_business model",
    "The task-force asked for a monkey_business model",
  ],
];
test("a failure that a library has wrapped stays what it is", () => {
  const refused = new ModelFailure("rejected", "Microsoft Entra ID gave no token");
  expect(classify(new APIConnectionError({ cause: refused }), undefined, 0)).toBe(refused);
});

test("a word that is not the whole key stays, and so does one too short to be a key", () => {
  expect(redactKeys("hunter22 and my-hunter2x-key", "hunter22")).toBe("[key] and my-hunter2x-key");
  expect(redactKeys("nonetheless, Ollama/ollama-3 has none of it", "ollama")).toBe(
    "nonetheless, Ollama/ollama-3 has none of it",
  );
  expect(redactKeys("the model mistral-large, mistral-", "mistral-")).toBe("the model mistral-large, [key]");
  expect(redactKeys("key=a+b(c)d/e== refused", "a+b(c)d/e==")).toBe("key=[key] refused");
});

test.each(hidden)("%s is hidden", (_, text, safe) => {
  expect(redactKeys(text, "hunter22")).toBe(safe);
});

const now = Date.parse("2026-01-01T00:00:00Z");
const refused = (status: number | undefined, message = "no", more: object = {}, headers: Record<string, string> = {}) =>
  new APIError(status, { message, ...more }, message, new Headers(headers));
const full = "This model's maximum context length is 8192 tokens";
const empty = "You exceeded your current quota";

type Failing = [string, unknown, ModelFailure["kind"]];
test.each<Failing>([
  ...[429].map((status) => [`${status}`, refused(status), "rate-limited"] as Failing),
  ...[408, 409, 425, 500, 502, 503, 504, 529].map((status) => [`${status}`, refused(status), "unavailable"] as Failing),
  ...[400, 401, 403, 404, 422].map((status) => [`${status}`, refused(status), "rejected"] as Failing),
  ["402", refused(402), "quota"],
  ["413", refused(413), "overflow"],
  ["400 about the context", refused(400, full), "overflow"],
  ["429 about the context", refused(429, "Request too large for the model"), "overflow"],
  ["401 about the context", refused(401, full), "rejected"],
  ["500 about the context", refused(500, full), "unavailable"],
  ["a code about the context", refused(400, "no", { code: "context_length_exceeded" }), "overflow"],
  ["429 about the account", refused(429, empty), "quota"],
  ["429 with a type about the account", refused(429, "no", { type: "insufficient_quota" }), "quota"],
  ["500 about the account", refused(500, empty), "unavailable"],
  ["429 about the account with a wait in words", refused(429, `${empty}. Please retry in 7.5s.`), "rate-limited"],
  ["429 about the account with a wait", refused(429, empty, {}, { "retry-after": "7" }), "rate-limited"],
  ["an error within the stream", refused(undefined), "unavailable"],
  ["a limit within the stream", refused(undefined, "rate limit reached"), "rate-limited"],
  ["a limit within the stream, as a sentence", refused(undefined, "Rate limit reached"), "rate-limited"],
  ["a code within the stream", refused(undefined, "no", { code: 400 }), "rejected"],
  ["a code of 600 within the stream", refused(undefined, "no", { code: 600 }), "unavailable"],
  ["a code of 599 within the stream", refused(undefined, "no", { code: 599 }), "unavailable"],
  ["a code that is no status within the stream", refused(undefined, "no", { code: 4001 }), "unavailable"],
  ["a refusal of the rate limit parameter", refused(400, "unknown parameter rate_limit"), "rejected"],
  ["a redirect about the account", refused(302, empty), "rejected"],
  ["a code of 399 within the stream", refused(undefined, "no", { code: 399 }), "unavailable"],
  ["no connection", new APIConnectionError({ message: "no" }), "unreached"],
  ["a connection that took too long", new APIConnectionTimeoutError(), "unavailable"],
  ["anything else", new Error("socket hang up"), "unavailable"],
  ["a word", "socket hang up", "unavailable"],
  ["what is a failure already", new ModelFailure("cut", "x"), "cut"],
])("%s is a failure of the right kind", (_, error, kind) => {
  expect(classify(error, undefined, now).kind).toBe(kind);
});

const tooLong = ["context window", "context-length", "maximum context", "prompt is too long", "input is too long"];
const alsoTooLong = [
  "too many tokens",
  "too many input tokens",
  "input token count",
  "reduce the length",
  "request too large",
];

test("a prompt that is too long is known by each of its phrases", () => {
  const kindOf = (phrase: string) => classify(refused(400, phrase), undefined, now).kind;
  expect([...tooLong, ...alsoTooLong].filter((phrase) => kindOf(phrase) !== "overflow")).toEqual([]);
});

test("an account with nothing left is known by each of its phrases", () => {
  const phrases = [
    "insufficient quota",
    "insufficient_balance",
    "insufficient credit",
    empty,
    "billing",
    "credit balance",
  ];
  expect(phrases.filter((phrase) => classify(refused(400, phrase), undefined, now).kind !== "quota")).toEqual([]);
});

test.each<[Record<string, string>, string, number | undefined]>([
  [{ "retry-after-ms": "250", "retry-after": "9" }, "", 250],
  [{ "retry-after-ms": "0" }, "", 0],
  [{ "retry-after-ms": "-1", "retry-after": "9" }, "", 9_000],
  [{ "retry-after": "1.5" }, "", 1_500],
  [{ "retry-after": "0" }, "", 0],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, "", 30_000],
  [{ "retry-after": "Wed, 31 Dec 2025 23:59:00 GMT" }, "", 0],
  [{ "retry-after": "soon" }, "", undefined],
  [{ "retry-after": "2" }, "retry in 9s", 2_000],
  [{}, "Please try again in 3.25s.", 3_250],
  [{}, "retry in 4 sec", 4_000],
  [{}, "Retry in 5 s", 5_000],
  [{}, "retry in 4 steps", undefined],
  [{}, "", undefined],
])("with the headers %j and the words %j the wait is %p ms", (headers, words, wait) => {
  expect(classify(refused(429, words, {}, headers), undefined, now).retryAfterMs).toBe(wait);
});

test.each([
  [refused(402), /top it up/],
  [new APIConnectionError({ message: "no" }), /llm\.base_url/],
  [refused(401), /llm\.api_key/],
  [refused(403), /llm\.api_key/],
  [refused(404), /llm\.model/],
  [refused(400), /refused again/],
  [refused(429), undefined],
  [refused(500), undefined],
  [refused(413), undefined],
])("what an operator can do about it is said where something can be done", (error, advice) => {
  const found = classify(error, undefined, now).advice;
  if (advice === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(advice);
});

test("the cause of a failed connection is told, without the key", () => {
  const cause = new Error("ECONNREFUSED for hunter22");
  expect(classify(new Error("fetch failed", { cause }), "hunter22", now).message).toBe(
    "fetch failed (ECONNREFUSED for [key])",
  );
  expect(classify(new Error("fetch failed", { cause: new Error("") }), undefined, now).message).toBe("fetch failed");
});

test("an endpoint that listens to nobody is told in plain words", async () => {
  const cause = await fetch("http://127.0.0.1:9/").catch((error: unknown) => error);
  expect(classify(new Error("Connection error.", { cause }), undefined, now).message).toBe("Connection refused");
});

test("a key of eight characters is hidden, a shorter one is an ordinary word", () => {
  expect([redactKeys("a 12345678", "12345678"), redactKeys("a 1234567", "1234567")]).toEqual(["a [key]", "a 1234567"]);
});

test.each([
  [
    "GET https://x.example/v1?key=AIzaSy0123456789abc&alt=sse failed",
    "GET https://x.example/v1?key=[key]&alt=sse failed",
  ],
  ["?alt=sse&api_key=short", "?alt=sse&api_key=[key]"],
  ["?key=short&alt=sse", "?key=[key]&alt=sse"],
  ["?api-key=short and more", "?api-key=[key] and more"],
  ["the key AIzaSy0123456789abc is none", "the key [key] is none"],
  ["gsk_0123456789, xai-0123456789, sk-0123456789", "[key], [key], [key]"],
  ["Authorization: Bearer abc.def", "Authorization: [key]"],
  ["the monkey=x of key sizes", "the monkey=x of key sizes"],
])("what looks like a key is in no error, whoever's it is: %s", (text, safe) => {
  expect(redactKeys(text, undefined)).toBe(safe);
});

test("the wait that a provider asks for is found in the rest of what it said too", () => {
  const facts = { status: 429, headers: undefined, sentence: "quota exceeded", code: "", unreached: false };
  const failure = failureOf({ ...facts, detail: '{"retryDelay": "7s"}' }, undefined, 0);
  expect([failure.kind, failure.retryAfterMs]).toEqual(["rate-limited", 7_000]);
  expect(failureOf({ ...facts, detail: "" }, undefined, 0).retryAfterMs).toBeUndefined();
});
