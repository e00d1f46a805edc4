import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../testing/browser/desk.ts";

const desk = await startDesk({
  "/list": `<p id=p>none</p><script>fetch('/rows').then((one) => one.text()).then((text) => p.textContent = text)</script>`,
  "/poll": `<p>begun</p><script>fetch('/never')</script>`,
  "/rows": async () => {
    await Bun.sleep(1_500);
    return new Response("rows of the server");
  },
  "/timed": `<p id=p>Loading…</p><ul id=l></ul><script>
    setTimeout(() => { let n = 0; const timer = setInterval(() => { l.innerHTML += '<li>Entry ' + ++n; if (n === 4) { clearInterval(timer); p.textContent = 'All' } }, 250) }, 900)</script>`,
  "/blanks": `<div id=l>${'<div style="background:#eee;width:200px;height:40px;margin:4px"></div>'.repeat(3)}</div>
    <script>setTimeout(() => { l.innerHTML = '<p>The first</p>'; setTimeout(() => l.innerHTML += '<p>The second</p>', 250) }, 1500)</script>`,
  "/turning": `<style>@keyframes turn { to { transform: rotate(360deg) } } .spinner { width: 20px; height: 20px; animation: turn 1s infinite }</style>
    <div class=spinner id=s></div><script>setTimeout(() => s.outerHTML = '<p>Here it is</p>', 1500)</script>`,
  "/stuck": `<p>Loading…</p><button onclick="goal.textContent = 'Done'">Go</button><p id=goal>Open</p>`,
  "/words": `<p>Loading dock</p><a href="/list">Loading…</a><p>Read more…</p><div><div style="background:red;width:90px;height:20px"></div></div>`,
  "/framed": `<h1>Order</h1><iframe src="/inner"></iframe>`,
  "/inner": `<p id=p>Loading…</p><script>setTimeout(() => { p.textContent = 'Paid in full' }, 1200)</script>`,
  "/hidden": `<h1>Order</h1><iframe src="/stuck" style="display:none"></iframe><iframe src="/stuck" width=1 height=1></iframe><iframe src="/stuck" width=600 height=20></iframe>
    <iframe src="/stuck" style="position:absolute;top:9000px"></iframe>`,
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

for (const [path, words] of [
  ["/timed", "Entry 4"],
  ["/blanks", "The second"],
  ["/turning", "Here it is"],
  ["/framed", "Paid in full"],
] as const)
  test(`a page that shows that it is loading is seen once it is there: ${path.slice(1)}`, async () => {
    await desk.call("go_to_url", { url: `${desk.url}${path}` });
    expect((await desk.see()).text).toContain(words);
  });

test("a page that goes on loading is told so, and waited for once", async () => {
  await desk.call("go_to_url", { url: `${desk.url}/stuck` });
  const { text } = await desk.see();
  expect(text).toContain('The page is still loading: it shows "Loading…". browser_wait, with gone: "Loading…", waits');
  const begun = performance.now();
  expect(await desk.call("click_element", { ref: refOf(text, 'button "Go"') })).toMatchObject({ isError: false });
  expect((await desk.see()).text).toContain("Done");
  expect(performance.now() - begun).toBeLessThan(4_000);
});

test("a frame that nobody sees is not waited for", async () => {
  await desk.call("go_to_url", { url: `${desk.url}/hidden` });
  expect((await desk.see()).text).not.toContain("still loading");
});

test("words and boxes that do not say that a page is loading are not waited for", async () => {
  await desk.call("go_to_url", { url: `${desk.url}/words` });
  expect((await desk.see()).text).not.toContain("still loading");
});
