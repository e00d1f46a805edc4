import { afterAll, expect, test } from "bun:test";
import { refOf, startDesk } from "../../testing/browser/desk.ts";
import { picturedCells } from "./picture-cells.ts";

const map = (
  body: string,
) => `<title>Map</title><body style="margin:0"><canvas width=1280 height=800 style="display:block"></canvas>
  <div style="position:fixed;left:100px;top:100px;width:300px;background:#fff"><input aria-label=Search><button onclick="p.hidden = !p.hidden">List</button>
  <p id=p hidden>${"A place<br>".repeat(9)}</p>${body}</div><script>const c = document.querySelector("canvas").getContext("2d")
    const draw = (x, colour) => { c.fillStyle = colour; c.fillRect(x, 300, 90, 90) }; draw(700, "red"); draw(120, "green")</script>`;
const desk = await startDesk({
  "/map": map(
    '<button onclick="draw(800, \'blue\')">Move</button><button onclick="document.body.scrollTop = 1">Stay</button>',
  ),
  "/beside": `<canvas width=300 height=200 style="background:#ddd"></canvas><p>Words</p><button onclick="this.textContent += '!'">Count</button>`,
});
afterAll(() => desk[Symbol.asyncDispose]());
const vision = true;

test("the picture of a map is not sent again for what lies over it, and is once the map has changed", async () => {
  await desk.open("/map");
  const first = await desk.see({ vision });
  expect(first.images).toHaveLength(1);
  const ref = (name: string) => refOf(first.text, `"${name}"`);
  let { mark } = first;
  const next = async (name: string, input: Record<string, unknown>) => {
    await desk.call(name, input);
    const seen = await desk.seeSince(mark, { vision });
    mark = seen?.mark ?? mark;
    return seen?.images?.length ?? 0;
  };
  expect(await next("input_text", { ref: ref("Search"), text: "Rome" })).toBe(0);
  expect(await next("click_element", { ref: ref("List") })).toBe(0);
  expect(await next("click_element", { ref: ref("List") })).toBe(0);
  expect(await next("click_element", { ref: ref("Move") })).toBe(1);
  expect(await next("input_text", { ref: ref("Search"), text: "Oslo" })).toBe(0);
});

test("a drawing that stands beside changing words is sent once", async () => {
  await desk.open("/beside");
  const { text, mark, images } = await desk.see({ vision });
  expect(images).toHaveLength(1);
  await desk.call("click_element", { ref: refOf(text, "Count") });
  const seen = await desk.seeSince(mark, { vision });
  expect(seen?.text).toContain("Count!");
  expect(seen?.images).toBeUndefined();
});

test("a PNG is read as the browser that wrote it drew it", async () => {
  await desk.open("/map");
  const { page } = desk.browsing().active();
  const cells = async (type: "png" | "jpeg", at: readonly number[]) =>
    picturedCells(await page.screenshot({ type }), { columns: 24, rows: 15, cells: at });
  // Two cells of one colour, and one of another.
  const found = await cells("png", [24 * 6 + 14, 24 * 12, 24 * 12 + 5]);
  const [red, white, other] = [...(found?.values() ?? [])];
  expect([white === other, red === white]).toEqual([true, false]);
  expect(await cells("jpeg", [0])).toBeUndefined();
});
