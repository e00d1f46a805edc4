import { afterAll, expect, test } from "bun:test";
import { startDesk } from "../../testing/browser/desk.ts";

const desk = await startDesk({
  "/list": `<p id=p>none</p><script>fetch('/rows').then((one) => one.text()).then((text) => p.textContent = text)</script>`,
  "/poll": `<p>begun</p><script>fetch('/never')</script>`,
  "/rows": async () => {
    await Bun.sleep(1_500);
    return new Response("rows of the server");
  },
  "/never": () => new Promise(() => undefined),
});
afterAll(() => desk[Symbol.asyncDispose]());

test("what a page asks its server for when it is opened is seen once it is there", async () => {
  await desk.call("go_to_url", { url: `${desk.url}/list` });
  expect((await desk.see()).text).toContain("rows of the server");
});

test("a page that waits for what never comes is seen all the same", async () => {
  await desk.call("go_to_url", { url: `${desk.url}/poll` });
  const begun = performance.now();
  expect((await desk.see()).text).toContain("begun");
  expect(performance.now() - begun).toBeLessThan(10_000);
});
