import { expect, test } from "bun:test";
import type { MemoryRows } from "../../memory/memory-rows.ts";
import { createMemoryStore, type MemoryStore } from "../../memory/memory-store.ts";

const bounds = { entries: 5, entryCharacters: 200 };

/** What every store of memories promises: `open` makes an empty one. For tests. */
export function testMemoryStore(open: () => Promise<MemoryRows & AsyncDisposable>): void {
  const opened: Opened = async () => {
    const rows = await open();
    return { store: createMemoryStore(rows, bounds), [Symbol.asyncDispose]: () => rows[Symbol.asyncDispose]() };
  };
  testEntries(opened);
  testChanges(opened, open);
}

type Opened = () => Promise<{ readonly store: MemoryStore } & AsyncDisposable>;

const by = "person" as const;

function testEntries(opened: Opened): void {
  test("an entry is found by its words, in whatever form, and in languages without spaces", async () => {
    await using of = await opened();
    const { store } = of;
    const report = await store.add("ann", { text: "Reports go to Zoë in Zürich.", kind: "fact", by });
    const meeting = await store.add("ann", { text: "会议在星期三举行。", kind: "fact", by });
    await store.add("ann", { text: "The printer is on floor 3.", kind: "how-to", by });
    const found = async (text: string) => (await store.search("ann", text, 10)).map(({ id }) => id);
    expect(await found("write the REPORT for the board")).toEqual([report.id]);
    expect(await found("who is zoe?")).toEqual([report.id]);
    expect(await found("什么时候开会议？")).toEqual([meeting.id]);
    expect(await found("and what is it for?")).toEqual([]);
    expect(await found(`" OR principal:* ') | !x`)).toEqual([]);
  });

  test("a long entry is found by its last word too", async () => {
    await using of = await opened();
    const text = Array.from({ length: 40 }, (_, n) => `w${n}`).join(" ");
    const { id } = await of.store.add("ann", { text, kind: "fact", by });
    expect((await of.store.search("ann", "w39", 5)).map((entry) => entry.id)).toEqual([id]);
  });

  test("each principal has its own: another neither lists, finds, reads, changes nor removes it", async () => {
    await using of = await opened();
    const { store } = of;
    const { id } = await store.add("ann", { text: "The vault opens with lilacs.", kind: "fact", by });
    expect(await store.list("bob")).toEqual([]);
    expect(await store.search("bob", "vault lilacs", 10)).toEqual([]);
    expect((await store.vectors("bob", "m")).size).toBe(0);
    const touches = [
      () => store.get("bob", id),
      () => store.edit("bob", id, { text: "x", by }),
      () => store.remove("bob", id),
    ];
    for (const touch of touches) await expect(touch()).rejects.toMatchObject({ code: "not_found" });
    expect(await store.clear("bob")).toBe(0);
    expect((await store.get("ann", id)).text).toBe("The vault opens with lilacs.");
    // Others' entries take no place among what is found, however well they fit.
    for (const text of ["Lilacs.", "Lilacs, lilacs."]) await store.add("bob", { text, kind: "fact", by });
    expect((await store.search("ann", "lilacs", 1)).map((entry) => entry.id)).toEqual([id]);
  });

  test("a memory is full at its bound, says so, and repeats nothing", async () => {
    await using of = await opened();
    const { store } = of;
    const add = (text: string) => store.add("ann", { text, kind: "fact", by });
    const first = await add("Number 0.");
    expect(await add("Number 0.")).toEqual(first);
    await Promise.all([1, 2, 3, 4].map((n) => add(`Number ${n}.`)));
    await expect(add("Number 5.")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("[memory] entries"),
    });
    await expect(add("x".repeat(201))).rejects.toMatchObject({ code: "too_large" });
    await expect(add(" \u200b\n")).rejects.toMatchObject({ code: "invalid_input" });
    const edit = (text: string) => store.edit("ann", first.id, { text, by });
    await expect(edit("x".repeat(201))).rejects.toMatchObject({ code: "too_large" });
    await expect(edit(" \u200b\n")).rejects.toMatchObject({ code: "invalid_input" });
    expect((await edit(" Number\u200b 0. ")).text).toBe("Number 0.");
    // Another's is not.
    await store.add("bob", { text: "Number 0.", kind: "fact", by });
    expect(await store.clear("ann")).toBe(5);
    expect(await store.list("ann")).toEqual([]);
  });
}

function testChanges(opened: Opened, open: () => Promise<MemoryRows & AsyncDisposable>): void {
  test("the entry that was changed last comes first, though clocks go back; the same words of another kind are another", async () => {
    await using rows = await open();
    let now = 10;
    const store = createMemoryStore(rows, bounds, () => now);
    const one = await store.add("ann", { text: "Tea.", kind: "fact", by });
    const other = await store.add("ann", { text: "Tea.", kind: "preference", by });
    expect(other.id).not.toBe(one.id);
    // Of those of one moment the one that was added last.
    expect((await store.list("ann")).map(({ id }) => id)).toEqual([other.id, one.id]);
    now = 5;
    const changed = await store.edit("ann", one.id, { text: "Mint.", by: "agent", sources: ["web"] });
    expect(changed).toMatchObject({ createdAt: 10, changedAt: 11 });
    expect(await store.edit("ann", one.id, { text: "Green.", by: "agent" })).toMatchObject({ sources: ["web"] });
    expect((await store.list("ann")).map(({ text }) => text)).toEqual(["Green.", "Tea."]);
    await store.edit("ann", other.id, { text: "x".repeat(200), by });
    const many = Array.from({ length: 61 }, (_, n) => `word${n}`).join(" ");
    expect(await store.search("ann", `${many} green`, 5)).toEqual([]);
  });

  test("whoever changes the words answers for them: a person's have no sources, an agent's are never public", async () => {
    await using of = await opened();
    const { store } = of;
    const { id } = await store.add("ann", { text: "From a page.", kind: "fact", by: "agent", sources: ["web"] });
    const shown = await store.edit("ann", id, { isPublic: true, by });
    expect(shown).toMatchObject({ isPublic: true, sources: ["web"], by: "agent" });
    expect(await store.edit("ann", id, { text: "Mine.", by })).toMatchObject({ isPublic: true, sources: [], by });
    const told = { text: "Again from a page.", by: "agent", sources: ["web"] } as const;
    expect(await store.edit("ann", id, told)).toMatchObject({ isPublic: false, sources: ["web"], by: "agent" });
    expect((await store.search("ann", "page", 10)).map(({ text }) => text)).toEqual(["Again from a page."]);
  });

  test("a vector is kept with its entry as it was when it was made", async () => {
    await using of = await opened();
    const { store } = of;
    const entry = await store.add("ann", { text: "One.", kind: "fact", by });
    const vector = Float32Array.of(0.6, 0.8);
    await store.keepVectors("bob", "m", [{ ...entry, vector }]);
    expect((await store.vectors("ann", "m")).size).toBe(0);
    await store.keepVectors("ann", "m", [{ ...entry, vector }]);
    expect((await store.vectors("ann", "m")).get(entry.id)).toEqual(vector);
    expect((await store.vectors("ann", "other")).size).toBe(0);
    await store.edit("ann", entry.id, { text: "Two.", by });
    expect((await store.vectors("ann", "m")).size).toBe(0);
    await store.keepVectors("ann", "m", [{ ...entry, vector }]);
    expect((await store.vectors("ann", "m")).size).toBe(0);
  });
}
