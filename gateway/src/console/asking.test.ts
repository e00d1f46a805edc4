import { afterAll, beforeEach, expect, spyOn, test } from "bun:test";
import { browserByHand, settled, withoutWaiting } from "../testing/browser-by-hand.ts";
import { drawnByHand } from "../testing/drawn-by-hand.ts";

const at = browserByHand();
afterAll(() => at[Symbol.dispose]());
beforeEach(() => at.reset());

const refusal = (status: number, more: object = {}) => Response.json({ code: "x", ...more }, { status });

test("a request that is refused after another one brought the token goes again with that, and nobody is asked", async () => {
  const { request, tokenQuestion } = await at.load("api/client.ts");
  const first = Promise.withResolvers<Response>();
  const answers = [first.promise, new Response("done")];
  at.answer = () => answers.shift() ?? refusal(500);
  const asked = request("/x");
  at.kept.set("manyhands-token", "brought");
  first.resolve(refusal(401));
  expect(await (await asked).text()).toBe("done");
  expect([at.sent.map(({ token }) => token), tokenQuestion.value]).toEqual([[null, "Bearer brought"], undefined]);
  expect(at.kept.get("manyhands-token")).toBe("brought");
});

test("a reader of a link sends nothing of a person who is signed in here", async () => {
  const { request, readByLink } = await at.load("api/client.ts");
  await request("/runs/r");
  readByLink("mhs_x");
  await request("/runs/r");
  readByLink(undefined);
  expect(at.sent.map(({ credentials }) => credentials)).toEqual([undefined, "omit"]);
});

test("what is removed is asked for so, and a refusal has its own status whatever it says", async () => {
  const { remove, request, rawRequest, tokenMark } = await at.load("api/client.ts");
  await remove("/tokens/a");
  expect(at.asked).toEqual(["DELETE ./tokens/a"]);
  at.answer = () => refusal(409, { status: 200 });
  await expect(request("/x")).rejects.toMatchObject({ status: 409, code: "x" });
  at.kept.set("manyhands-token", "t");
  at.answer = () => refusal(401);
  expect((await rawRequest("/x", { method: "PUT" })).status).toBe(401);
  expect(at.sent.at(-1)?.token).toBe("Bearer t");
  const marks = ["xa", "ya", "ax", "xax", ""].map((token) => {
    at.kept.set("manyhands-token", token);
    return tokenMark();
  });
  expect(new Set(marks).size).toBe(5);
  expect(marks.join()).not.toContain("xa");
  await settled();
});

test("a name is told by its title, a name that is not known is a flow if it asks others, and a task by how it begins", async () => {
  const { titleOf, titleOfName, isFlow } = await at.load("state/names.ts");
  const store = await at.load("state/store.ts");
  store.flows.value = [{ name: "debate", title: "Debate" }];
  store.agents.value = [{ name: "swe", title: "Engineer" }, { name: "plain" }];
  expect(["debate", "swe", "plain", "gone"].map(titleOfName)).toEqual(["Debate", "Engineer", "plain", "gone"]);
  expect(["debate", "swe", "gone"].map((name) => [isFlow(name), isFlow(name, true)])).toEqual([
    [true, true],
    [false, false],
    [false, true],
  ]);
  const titles = ["  Do\n it. ", "a\u202eb", "x".repeat(61)].map((input) => titleOf({ input }));
  expect(titles).toEqual(["Do it.", "a\\u202eb", `${"x".repeat(59)}…`]);
  expect(titleOf({ input: " " })).not.toBe("");
});

test("a conversation's runs are read from the oldest on, and again when one of them changed or any may have", async () => {
  using _ = withoutWaiting();
  const { useConversation } = await at.load("pages/conversation/use-conversation.ts");
  const { lastChange } = await at.load("state/store.ts");
  at.answer = () => Response.json({ runs: [{ id: "new" }, { id: "old" }] });
  let held: { runs?: readonly { id: string }[] } = {};
  const shown = drawnByHand(() => {
    held = useConversation("c/1");
    return null;
  }, {});
  const askedBy = async (change: object) => {
    at.asked.length = 0;
    lastChange.value = change;
    shown.look();
    await settled();
    return at.asked.length;
  };
  expect(await askedBy({ runs: [] })).toBe(1);
  expect(at.asked).toEqual(["GET ./runs?contextId=c%2F1&limit=100"]);
  shown.look();
  expect(held.runs?.map(({ id }) => id)).toEqual(["old", "new"]);
  const [before] = [held.runs];
  expect(await askedBy({ runs: [{ id: "x", contextId: "other" }] })).toBe(0);
  expect(await askedBy({ runs: [{ id: "old", contextId: "c/1" }] })).toBe(1);
  expect(await askedBy({ runs: [], all: true })).toBe(1);
  shown.look();
  expect(held.runs).toBe(before as never);
  shown.remove();
});

test("a request of the page of routes has what was entered, in its place, and is a line for a shell without the token", async () => {
  const { requestOf, curlOf } = await at.load("pages/api/document.ts");
  const named = (place: string, name: string) => ({ in: place, name });
  const parameters = [named("path", "id"), named("query", "q"), named("query", "empty"), named("header", "x-key")];
  const route = { method: "POST", path: "/runs/{id}/x", parameters, body: "{}" };
  const entered = { "path id": "a/b?", "query q": "x y", "header x-key": "it's" };
  const request = requestOf(route, entered, '{"a":1}');
  expect(request).toEqual({
    ...{ path: "/runs/a%2Fb%3F/x?q=x+y", method: "POST", body: '{"a":1}' },
    headers: { "x-key": "it's", "content-type": "application/json" },
  });
  const url = "'https://h/base/runs/a%2Fb%3F/x?q=x+y'";
  const rest = `-H 'x-key: it'\\''s' -H 'content-type: application/json'`;
  expect(curlOf(request, "https://h/base/", false)).toBe(`curl -sN -X POST ${url} ${rest} -d '{"a":1}'`);
  expect(curlOf(request, "https://h/base/", true)).toContain('-H "Authorization: Bearer $MANYHANDS_TOKEN"');
  const { body: _, ...read } = { ...route, method: "GET", parameters: [] };
  expect(requestOf(read, {}, "x")).toEqual({ path: "/runs//x", method: "GET", headers: {} });
});

test("what was set for a flow stays when it is chosen again, and goes with another", async () => {
  const { newTask, choose } = await at.load("pages/start/new-task.ts");
  choose("one");
  newTask.options.value = { rounds: "2" };
  choose("one");
  expect(newTask.options.value).toEqual({ rounds: "2" });
  choose("two");
  expect(newTask.options.value).toEqual({});
});

test("a response is shown as it comes, whole letters, and as much as is kept", async () => {
  const { send } = await at.load("pages/api/send.ts");
  const shown = async (...pieces: readonly Uint8Array[]) => {
    const left = [...pieces];
    at.answer = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            const piece = left.shift();
            if (piece === undefined) controller.close();
            else controller.enqueue(piece);
          },
        }),
        { status: 418, headers: { "x-key": "v" } },
      );
    const told: { text: string; isCut: boolean; isDone: boolean; status: number; headers: unknown }[] = [];
    const request = { path: "/x", method: "GET", headers: {} };
    await send(request, new AbortController().signal, (answered: (typeof told)[number]) => told.push(answered));
    return told;
  };
  const letters = new TextEncoder().encode("日本");
  const told = await shown(letters.slice(0, 4), letters.slice(4));
  expect(told.map(({ text, isDone }) => [text, isDone])).toEqual([
    ["", false],
    ["日", false],
    ["日本", false],
    ["日本", true],
  ]);
  expect(told[0]).toMatchObject({ status: 418, headers: expect.arrayContaining([["x-key", "v"]]) });
  const long = await shown(new Uint8Array(200_000).fill(97), new Uint8Array(1).fill(98), new Uint8Array(0));
  expect(long.map(({ text, isCut }) => [text.length, isCut])).toEqual([
    [0, false],
    [200_000, false],
    [200_000, true],
    [200_000, true],
    ...(long.length > 4 ? [[200_000, true] as [number, boolean]] : []),
  ]);
});

test("only options that were set are sent, as what they are, and those that were given are shown so again", async () => {
  const { readOptions, enteredOf } = await at.load("parts/option-fields.tsx");
  const schemas = {
    ...{ on: { type: "boolean", default: true }, off: { type: "boolean" }, count: { type: "integer" } },
    ...{ word: { type: "string" }, kind: { enum: ["a", "7"] }, list: { type: "array" } },
  };
  const set = { on: false, off: true, count: "3", word: "7", kind: "7", list: ' ["x"] ', unknown: "x" };
  const read = { on: false, off: true, count: 3, word: "7", kind: "7", list: ["x"] };
  expect(readOptions(schemas, set)).toEqual(read);
  expect(readOptions(schemas, { on: true, off: false, count: "", word: "", kind: "", list: " " })).toEqual({});
  expect(readOptions(schemas, {})).toEqual({});
  expect(() => readOptions(schemas, { list: "[" })).toThrow("list");
  expect(readOptions(schemas, enteredOf(schemas, read))).toEqual(read);
  expect(enteredOf(schemas, { word: "x", list: ["x"], count: 3, on: true })).toEqual({
    ...{ word: "x", list: '[\n  "x"\n]', count: "3", on: true },
  });
});

test("a file is saved as bytes under its own name, and shown only if it is a picture that runs nothing, as long as it is there", async () => {
  using _ = withoutWaiting();
  const { FileLinks } = await at.load("parts/file-links.tsx");
  const types = ["image/png", "image/svg+xml", "text/html", "image/webp"];
  const files = types.map((mediaType, n) => ({ name: `a/b ${n}.x`, mediaType, size: 1, sha256: String(n) }));
  using made = spyOn(URL, "createObjectURL").mockImplementation((blob) => `blob:${(blob as Blob).type}`);
  using gone = spyOn(URL, "revokeObjectURL").mockReturnValue(undefined);
  at.answer = () => new Response("x");
  const shown = drawnByHand(FileLinks, { files });
  shown.look();
  await settled();
  const pictures = shown.look().flatMap(({ name, props }) => (name === "img" ? [props.src] : []));
  expect(pictures).toEqual(["blob:image/png", "blob:image/webp"]);
  expect(at.asked).toEqual(["GET ./artifacts/0/b%200.x", "GET ./artifacts/3/b%203.x"]);
  const clicked: object[] = [];
  const createElement = () => ({
    click() {
      clicked.push(this);
    },
  });
  Object.assign(at.document, { createElement });
  shown.find("a", "a/b 2.x").props.onClick({ preventDefault: () => undefined });
  await settled();
  expect(clicked).toMatchObject([{ href: "blob:application/octet-stream", download: "b 2.x" }]);
  expect([made.mock.calls.length, gone.mock.calls.length]).toEqual([3, 0]);
  shown.remove();
  expect(gone.mock.calls).toEqual([["blob:image/png"], ["blob:image/webp"]]);
});
