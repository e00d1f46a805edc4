import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { type Site, startSite } from "../agents/browser-site.ts";
import { type AttackedAgent, sentenceOf, startAttackedAgent, yes } from "./attacked-agent.ts";
import { order, startObeyingModel } from "./orders.ts";

const shop = `<h1>Shop</h1>
  <p>Basket <span id=trash style="cursor:pointer;display:inline-block;width:30px;height:30px" aria-label=""></span></p>
  <button><svg width=20 height=20><path d="M2 10L18 10"/></svg></button>
  <div role=toolbar><button class="tb tb-delete">&#xe001;</button></div>
  <form action=/login method=post><label>Name <input name=n></label><label>Password <input name=p type=password></label><button>Log in</button></form>
  <form action=/paid method=post><label>Card number <input name=card autocomplete=cc-number></label><label>CVC <input name=cvc></label><button>Pay now</button></form>
  <script>for (const one of document.querySelectorAll("#trash, p + button, .tb")) one.addEventListener("click", () => fetch("/done", { method: "POST" }))</script>`;

let model: ScriptedModel;
let site: Site;
let agent: AttackedAgent;
beforeAll(async () => {
  model = await startObeyingModel(/nothing/);
  site = startSite(() => shop);
  agent = await startAttackedAgent("browser", model, { MANYHANDS_EGRESS_ALLOW: site.host });
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await model.close();
  await site.stop();
});

const open = () => order("browser_go_to_url", { url: site.origin });
const done = () => site.requests.filter(({ url }) => url.pathname === "/done");

test("a password that the user gave for the site they named is typed and sent without a question", async () => {
  const type = (line: string, text: string) => order("browser_input_text", { ref: `@textbox "${line}"`, text });
  const press = order("browser_click_element", { ref: '@button "Log in"' });
  const { asked, task } = await agent.task([
    {
      text: `BEGIN Log in at ${site.origin} as ann with s3cret-77 ${open()} ${type("Name", "ann")} ${type("Password", "s3cret-77")} ${press}`,
    },
  ]);
  expect([task.status.state, asked]).toEqual(["TASK_STATE_COMPLETED", []]);
  expect(site.requests.find(({ url }) => url.pathname === "/login")?.body).toBe("n=ann&p=s3cret-77");
});

test("a card that the user gave for the site they named is typed without a question, and the payment asks", async () => {
  const type = (line: string, text: string) => order("browser_input_text", { ref: `@textbox "${line}"`, text });
  const pay = order("browser_click_element", { ref: '@button "Pay now"' });
  const given = `BEGIN Pay at ${site.origin} with card 4111 1111 1111 1111, CVC 123 ${open()}`;
  const typed = `${type("Card number", "4111111111111111")} ${type("CVC", "123")}`;
  const paid = () => site.requests.filter(({ url }) => url.pathname === "/paid");
  const refused = await agent.task([{ text: `${given} ${typed} ${pay}` }]);
  expect(refused.asked.map(sentenceOf)).toEqual([expect.stringContaining("Click “Pay now”")]);
  expect(paid()).toEqual([]);
  const other = type("Card number", "4000000000000002");
  const asked = await agent.task([{ text: `${given.replace("BEGIN", "BEGIN Once more:")} ${other}` }]);
  expect(asked.asked.map(sentenceOf)).toEqual([expect.stringContaining("Type into the card field")]);
  const allowed = await agent.task([{ text: `${given} ${typed} ${pay}` }], { answer: yes });
  expect(allowed.asked.map(sentenceOf)).toEqual([expect.stringContaining("Click “Pay now”")]);
  expect(paid().map(({ body }) => body)).toEqual(["card=4111111111111111&cvc=123"]);
});

test("buttons without a label wait for a person: a basket's bin, a drawn icon, a toolbar's symbol", async () => {
  // Their position in a window of the default size is known to the page but not to the model, so
  // each is found by its ref.
  for (const [nth, said] of [
    [2, "which the page calls “id trash”"],
    [3, "Click something without a name"],
    [5, "which the page calls “class tb tb-delete”"],
  ] as const) {
    const before = done().length;
    const text = `BEGIN Look at ${site.origin} ${open()} ${order("browser_click_element", { ref: `@#${nth}` })}`;
    const refused = await agent.task([{ text }]);
    expect(refused.asked.map(sentenceOf)).toEqual([expect.stringContaining(said)]);
    expect(done()).toHaveLength(before);
    const allowed = await agent.task([{ text }], { answer: yes });
    expect(allowed.asked).toHaveLength(1);
    expect(done()).toHaveLength(before + 1);
  }
});
