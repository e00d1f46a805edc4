import { expect, test } from "bun:test";
import { Task, type Part as WirePart } from "@a2a-js/sdk";
import { peerArtifacts } from "./peer-artifacts.ts";

const file = { sha256: "a", name: "a.md", mediaType: "text/markdown", size: 1 };
const text = { text: "x" };
const data = { data: { a: 1 } };
const link = { url: "https://a.example/x" };

/**
 * The names of the artifacts that hold more than the answer; with `taken`, every link is a file.
 */
function others(artifacts: readonly object[], { taken = false } = {}) {
  const task = Task.fromJSON({ id: "t", artifacts: artifacts.map((one, at) => ({ artifactId: `id ${at}`, ...one })) });
  const links = task.artifacts.flatMap(({ parts }) => parts.filter(({ content }) => content?.$case === "url"));
  const files = new Map<WirePart, typeof file>(taken ? links.map((part) => [part, file]) : []);
  return peerArtifacts(task, files);
}
const namesOf = (...args: Parameters<typeof others>) => others(...args).artifacts.map(({ name }) => name);

test.each<readonly [string, readonly object[], readonly string[]]>([
  ["a lone text", [{ name: "result", parts: [text] }], []],
  ["a lone text with one piece of data", [{ name: "result", parts: [text, data] }], []],
  ["two pieces of data", [{ name: "result", parts: [data, data] }], ["result"]],
  ["a link that was not taken", [{ name: "result", parts: [text, link] }], ["result"]],
  ["metadata of others", [{ name: "result", parts: [text], metadata: { source: "x" } }], ["result"]],
  ["metadata of others on a part", [{ name: "result", parts: [{ ...text, metadata: { page: 1 } }] }], ["result"]],
  ["our own metadata", [{ name: "result", parts: [text], metadata: { "manyhands/file": {} } }], []],
  [
    "several artifacts",
    [
      { name: "one", parts: [text] },
      { name: "two", parts: [text] },
    ],
    ["one", "two"],
  ],
  [
    "the one named so, beside others",
    [
      { name: "draft", parts: [text] },
      { name: "answer", parts: [text, data] },
    ],
    ["draft"],
  ],
  [
    "an earlier one of that name",
    [
      { name: "answer", parts: [text] },
      { name: "answer", parts: [text] },
    ],
    [],
  ],
  [
    "data in an earlier one of that name",
    [
      { name: "answer", parts: [data] },
      { name: "answer", parts: [text] },
    ],
    ["answer"],
  ],
])("an answer that is %s leaves other artifacts: %#", (_, artifacts, names) => {
  expect(namesOf(artifacts)).toEqual([...names]);
});

test("an artifact of taken files alone is none; with words or metadata beside them it is one, with the files", () => {
  const answer = { name: "answer", parts: [text] };
  expect(namesOf([answer, { name: "f", parts: [link] }], { taken: true })).toEqual([]);
  expect(namesOf([answer, { name: "f", parts: [link], metadata: { a: 1 } }], { taken: true })).toEqual(["f"]);
  const { artifacts } = others([answer, { name: "f", parts: [text, link] }], { taken: true });
  expect(artifacts).toEqual([
    {
      name: "f",
      parts: [
        { type: "text", text: "x" },
        { type: "file", ...file },
      ],
    },
  ]);
});

test("each artifact has a name of its own inside the folder, and only others' metadata", () => {
  const [, ...rest] = ["answer", "a", "a", "../../b", ""].map((name) => ({ name, parts: [data], description: " d\n" }));
  const metadata = { "manyhands/file": { sha256: "forged" }, source: "x" };
  const made = { name: "c", parts: [{ ...data, mediaType: "application/json", filename: "n", metadata }], metadata };
  const { artifacts } = others([...rest, made]);
  expect(artifacts.map(({ name }) => name)).toEqual(["a", "a (2)", "b", "id 3", "c"]);
  expect(artifacts[0]).toEqual({ name: "a", description: "d", parts: [{ type: "data", data: { a: 1 } }] });
  expect(artifacts.at(-1)).toEqual({
    name: "c",
    parts: [{ type: "data", data: { a: 1 }, mediaType: "application/json", metadata: { source: "x" } }],
    metadata: { source: "x" },
  });
});

test("fifty artifacts are taken and no more, nor more characters than an answer may have", () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `n${at}`, parts: [data] }));
  expect([others(many(50)).artifacts.length, others(many(50)).fault]).toEqual([50, undefined]);
  expect([others(many(51)).artifacts.length, others(many(51)).fault?.code]).toEqual([50, "too_large"]);
  const frame = JSON.stringify({ name: "b", parts: [{ type: "text", text: "" }] }).length;
  const sized = (length: number) =>
    others([
      { name: "a", parts: [link] },
      { name: "b", parts: [{ text: "x".repeat(length) }] },
    ]);
  const first = JSON.stringify(others([{ name: "a", parts: [link] }]).artifacts[0]).length;
  const room = 256 * 1024 - first - frame;
  expect([sized(room).artifacts.length, sized(room + 1).artifacts.length]).toEqual([2, 1]);
});
