import { expect, spyOn, test } from "bun:test";
import { Task } from "@a2a-js/sdk";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { insidePath } from "../../core/text/inside-path.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Peers } from "./peers.ts";
import { hasFiles, takeFiles } from "./take-files.ts";

const here = "http://swe.example/a2a";
const live = new AbortController().signal;
type Answer = () => Response | Promise<Response>;

/** The files taken of a task with these parts, from an agent that answers each link in turn. */
async function taken(
  parts: readonly object[],
  { answers = [] as readonly Answer[], files = 9, fileBytes = 5, store = undefined as ErrorCode | undefined } = {},
) {
  const fetched: string[] = [];
  const left = [...answers];
  const peers = {
    bounds: { files, fileBytes },
    inside: (url: string) => url,
    // It has moved since it was asked.
    at: ({ name }: { readonly name: string }) => ({ name, url: here }),
    fetch: () => async (url: string) => {
      fetched.push(url);
      return (left.shift() ?? (() => new Response("12345")))();
    },
    artifacts: {
      async put(content: Uint8Array | ReadableStream<Uint8Array>, about: { name: string; mediaType?: string }) {
        if (store !== undefined) throw new AppError(store, "x");
        const bytes =
          content instanceof Uint8Array ? content : new Uint8Array(await new Response(content).arrayBuffer());
        return { sha256: sha256Of(bytes), size: bytes.length, mediaType: "guessed", ...about };
      },
    },
  } as unknown as Peers;
  const task = Task.fromJSON({ id: "t", artifacts: [{ artifactId: "a", name: "report", parts }] });
  const outcome = await takeFiles(task, { name: "swe", url: "http://former.example" }, peers, live);
  const found = [...outcome.files.values()].map(({ name, size }) => `${name} ${size}`);
  return { found, code: outcome.fault?.code, message: outcome.fault?.message, fetched };
}
const raw = (text: string, filename = "") => ({ raw: Buffer.from(text).toString("base64"), filename });
const link = (path: string, more: object = {}) => ({ url: `http://swe.example/${path}`, filename: path, ...more });
const facts = (sha256: string, size: number) => ({ metadata: { "manyhands/file": { sha256, size } } });

test("a file is as large as allowed, sent along or linked, whether or not it says how large it is", async () => {
  expect((await taken([raw("12345", "a"), link("b")])).found).toEqual(["a 5", "b 5"]);
  const large = await taken([raw("123456", "a"), link("b"), raw("1", "c")], {
    answers: [() => new Response("123456")],
  });
  expect([large.found, large.code]).toEqual([["c 1"], "too_large"]);
  expect(large.message).toContain("The file a is larger than the 5 bytes");
  const announced = await taken([link("b", facts("x", 6))]);
  expect([announced.code, announced.fetched]).toEqual(["too_large", []]);
});

test("a file that comes in pieces is as large as they are together, and no more of it is read", async () => {
  let isLeft = false;
  let left = 9;
  const pieces = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => (left-- > 0 ? controller.enqueue(Buffer.from("1234")) : controller.close()),
        cancel() {
          isLeft = true;
        },
      }),
    );
  using bounding = spyOn(AbortSignal, "timeout");
  const endless = await taken([link("a")], { answers: [pieces] });
  expect([endless.found, endless.code]).toEqual([[], "too_large"]);
  expect(isLeft).toBe(true);
  expect(bounding.mock.calls).toEqual([[120_000]]);
});

test("as many files are taken as allowed, and what was refused before does not count", async () => {
  expect(await taken([raw("1", "a"), raw("2", "b")], { files: 2 })).toMatchObject({
    found: ["a 1", "b 1"],
    code: undefined,
  });
  const more = await taken([raw("123456", "large"), raw("1", "a"), raw("2", "b"), raw("3", "c")], { files: 2 });
  expect([more.found, more.code]).toEqual([["a 1", "b 1"], "too_large"]);
});

test("a file that is not what was announced is not taken, one that is, or that nobody announced, is", async () => {
  const right = sha256Of("12345");
  expect((await taken([link("a", facts(right, 5))])).found).toEqual(["a 5"]);
  const wrong = await taken([link("a", facts(sha256Of("other"), 5))]);
  expect([wrong.found, wrong.code]).toEqual([[], "unavailable"]);
});

test.each([["http://other.example/x"], ["http://swe.example:81/x"], ["https://swe.example/x"], ["file:///etc/passwd"]])(
  "a link to %s, which is not the agent's own server, is not followed",
  async (url) => {
    const { code, fetched } = await taken([{ url, filename: "x" }]);
    expect([code, fetched]).toEqual(["forbidden", []]);
  },
);

test.each([
  [404, "not_found", 1],
  [429, "unavailable", 3],
  [500, "unavailable", 3],
] as const)("an answer of %i is %s, after %i tries", async (status, code, tries) => {
  const answers = Array.from({ length: 3 }, () => () => new Response("no", { status }));
  const outcome = await taken([link("a")], { answers });
  expect([outcome.found, outcome.code, outcome.fetched.length]).toEqual([[], code, tries]);
});

test("a connection that fails once is tried again; trouble of our own store is nobody else's", async () => {
  const broken = () => Promise.reject(new TypeError("reset"));
  expect((await taken([link("a")], { answers: [broken] })).found).toEqual(["a 5"]);
  await expect(taken([raw("1", "a")], { store: "storage_unavailable" })).rejects.toMatchObject({
    code: "storage_unavailable",
  });
  expect((await taken([raw("1", "a")], { store: "too_large" })).code).toBe("too_large");
});

test("an agent that starts again is waited for, once for all of its files", async () => {
  const refused = () => Promise.reject(Object.assign(new Error("Unable to connect"), { code: "ECONNREFUSED" }));
  expect((await taken([link("a")], { answers: Array(4).fill(refused) })).found).toEqual(["a 5"]);
  const gone = await taken([link("a"), link("b")], { answers: Array(20).fill(refused) });
  const tries = (path: string) => gone.fetched.filter((url) => url.endsWith(path)).length;
  expect([gone.code, tries("/a"), tries("/b")]).toEqual(["unavailable", 8, 3]);
}, 60_000);

test("a file has the name of its part, or of its artifact, inside the folder", async () => {
  expect((await taken([raw("1"), raw("2", "../../etc/passwd")])).found).toEqual(["report 1", "etc/passwd 1"]);
  expect(["a/b", "/a", "..", "a/./b", "a\\..\\b", " /a", ""].map(insidePath)).toEqual([
    "a/b",
    "a",
    "file",
    "a/b",
    "a/b",
    "a",
    "file",
  ]);
  const task = (...parts: readonly object[]) =>
    Task.fromJSON({
      id: "t",
      artifacts: [
        { artifactId: "a", parts: [] },
        { artifactId: "b", parts },
      ],
    });
  expect([task(), task({ text: "x" }), task({ text: "x" }, raw("1")), task(link("a"))].map(hasFiles)).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
