import { expect, test } from "bun:test";
import type { Egress } from "../../machine/egress/egress.ts";
import { readPage } from "./read-page.ts";

test("a page is told by the address at which it was found, each hop of the way admitted", async () => {
  const admitted: string[] = [];
  const egress = {
    async fetch({ admit }: { admit(hop: URL): Promise<void> }) {
      for (const hop of ["https://a.example/old", "https://b.example/new"]) await admit(new URL(hop));
      const headers = { "content-type": "text/plain; charset=utf-8" };
      return { status: 200, headers, body: Buffer.from("words"), url: new URL("https://b.example/new") };
    },
  } as unknown as Egress;
  const robots = { admit: async (hop: URL) => void admitted.push(hop.host) } as never;
  const options = { timeoutMs: 1_000, signal: new AbortController().signal } as never;
  expect(await readPage("https://a.example/old", { egress, robots }, options)).toEqual({
    ...{ url: "https://b.example/new", mediaType: "text/plain", title: "", text: "words" },
  });
  expect(admitted).toEqual(["a.example", "b.example"]);
});
