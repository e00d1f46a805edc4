import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../../testing/browser/desk.ts";

let answer = Promise.withResolvers<void>();
const html = { headers: { "content-type": "text/html" } };
const desk = await startDesk(
  {
    "/shop": `<h1>Shop</h1><a href="/slow">Orders</a><form action="/slow"><input aria-label="Find"></form>`,
    "/slow": async () => {
      await answer.promise;
      return new Response("<h1>Your orders</h1>", html);
    },
  },
  { patienceMs: 14_000 },
);
afterAll(async () => {
  answer.resolve();
  await desk[Symbol.asyncDispose]();
});

test("a page whose server takes its time is waited for, and stays open when that is too long", async () => {
  const text = await desk.open("/shop");
  const { id } = desk.browsing().active();
  const clicked = await desk.call("click_element", { ref: refOf(text, "Orders") });
  expect(clicked).toMatchObject({ isError: true, text: expect.stringContaining("/slow is still loading after ") });
  expect(desk.browsing().active().id).toBe(id);
  await expect(desk.see()).rejects.toThrow("is still loading after ");
  answer.resolve();
  await desk.call("wait", { seconds: 1 });
  expect((await desk.see()).text).toContain("Your orders");
  expect(desk.browsing().loading()).toBeUndefined();
}, 60_000);

test("an act that a slow page follows reports the page once it has come", async () => {
  answer = Promise.withResolvers();
  const text = await desk.open("/shop");
  const pressed = desk.call("click_element", { ref: refOf(text, "Orders") });
  while (desk.browsing().loading() === undefined) await Bun.sleep(20);
  answer.resolve();
  expect(await pressed).toMatchObject({ isError: false, text: expect.stringContaining("The page is now /slow.") });
}, 60_000);
