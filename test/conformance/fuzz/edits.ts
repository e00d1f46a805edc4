import fc from "fast-check";

/** Values that a field is not meant to have, or only just. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      ...[null, "", 0, -1, 0.5, 1e21, 2 ** 53 + 2, -(2 ** 31) - 1, true, "true", [], {}, [[]], [null]],
      ...["1", "-1", "ROLE_USER", "ROLE_AGENT", "TASK_STATE_WORKING", "TASK_STATE_UNSPECIFIED", "UNKNOWN", "none"],
      ...["\ud800", "a\u0000b", "\u202e", "%00", "../..", "__proto__", "====", "aGk", "\r\nX: y", "x".repeat(3_000)],
      ...["http://[::1", "ftp://x/", "http://127.0.0.1:1/", "data:,x", "2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z"],
      ...[nested(40), nested(99), nested(101), nested(300), Array(101).fill({ text: "x" })],
      ...[
        { $case: "text", value: 1 },
        { $ref: "#" },
        { toString: 1, constructor: null },
        JSON.parse('{"__proto__":{}}'),
      ],
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let n = 0; n < depth; n++) value = n % 2 === 0 ? [value] : { a: value };
  return value;
}

const oddKey = fc.constantFrom(
  ...["text", "raw", "url", "data", "kind", "file", "metadata", "taskId", "task_id", "contextId", "messageId"],
  ...["message_id", "historyLength", "history_length", "tenant", "id", "__proto__", "constructor", "", "unknown"],
);

/** A change at one place of a JSON value; `at` counts its places and starts over at the end. */
type Edit = {
  readonly at: number;
  readonly act: "set" | "add" | "remove" | "wrap";
  readonly key: string;
  readonly value: unknown;
};

const edit = fc.record({
  at: fc.nat(1_000),
  act: fc.constantFrom("set", "set", "add", "add", "remove", "wrap"),
  key: oddKey,
  value: oddValue,
});

/** Few changes, so that most of a request is still right and more than its first field is read. */
export const edits: fc.Arbitrary<readonly Edit[]> = fc.oneof(
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: fc.array(edit, { minLength: 1, maxLength: 3 }) },
);

type Owner = Record<string, unknown>;

/** The value with the changes made; the value given stays as it is. */
export function edited(value: unknown, changes: readonly Edit[]): unknown {
  const root: Owner = { value: structuredClone(value) };
  for (const { at, act, key, value: given } of changes) {
    // It may come again, and be changed in its turn.
    const odd = structuredClone(given);
    const places = placesIn(root);
    const [owner, name] = places[at % places.length] ?? [root, "value"];
    const there = owner[name];
    if (act === "remove") delete owner[name];
    else if (act === "wrap") put(owner, name, [there]);
    else if (act === "add" && typeof there === "object" && there !== null) put(there as Owner, key, odd);
    else put(owner, name, odd);
  }
  return root.value;
}

/** `__proto__` is a key like any other. */
function put(owner: Owner, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, enumerable: true, configurable: true, writable: true });
}

function placesIn(owner: Owner): [Owner, string][] {
  return Object.keys(owner).flatMap((name) => {
    const value = owner[name];
    const below = typeof value === "object" && value !== null ? placesIn(value as Owner) : [];
    return [[owner, name] as [Owner, string], ...below];
  });
}

/** A change at one place of a request's bytes. */
type Cut = {
  readonly at: number;
  readonly act: "truncate" | "insert" | "replace" | "repeat";
  readonly bytes: Uint8Array;
};

const utf8 = (text: string) => new TextEncoder().encode(text);

const oddBytes = fc.oneof(
  fc.constantFrom(
    ...[[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0x00], [0xef, 0xbb, 0xbf], [0x80]].map((list) =>
      Uint8Array.from(list),
    ),
    ...[
      "\\ud800",
      '"',
      "1e400",
      "9".repeat(400),
      "}",
      "]",
      "{",
      '"id":1,',
      "-",
      "\\u0000",
      ",",
      "[".repeat(20_000),
    ].map(utf8),
  ),
  fc.uint8Array({ minLength: 1, maxLength: 6 }),
);

/** Mostly none: what is broken here is rarely read any further. */
export const cuts: fc.Arbitrary<readonly Cut[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.record({
        at: fc.nat(100_000),
        act: fc.constantFrom("truncate", "insert", "replace", "repeat"),
        bytes: oddBytes,
      }),
      { minLength: 1, maxLength: 2 },
    ),
  },
);

/** The bytes with the changes made. */
export function cut(whole: Uint8Array, changes: readonly Cut[]): Uint8Array<ArrayBuffer> {
  let bytes = Buffer.from(whole);
  for (const { at: place, act, bytes: odd } of changes) {
    const at = place % (bytes.length + 1);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    if (act === "truncate") bytes = before;
    else if (act === "insert") bytes = Buffer.concat([before, odd, after]);
    else if (act === "replace") bytes = Buffer.concat([before, odd, after.subarray(odd.length)]);
    else bytes = Buffer.concat([bytes, after]);
  }
  return Uint8Array.from(bytes);
}
