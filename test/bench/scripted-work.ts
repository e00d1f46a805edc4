import { call, type Move, on } from "../agents/browser-play.ts";

/** Work of twenty calls each, as a play of moves: the same whatever agent does it. */
const workLength = 20;

const articles = Array.from({ length: 24 }, (_, n) => `Kettle ${String.fromCharCode(65 + n)}`);

const words = (count: number, of: string) =>
  Array.from({ length: count }, (_, n) => `${of} ${n} holds ${n + 3} cups and boils them in ${n % 7} minutes.`).join(
    " ",
  );

/** A shop: a list with a search form, and a page for each article with details that open on it. */
export function shopPage({ pathname, searchParams }: URL): string {
  const item = /^\/item\/(\d+)$/.exec(pathname)?.[1];
  if (item !== undefined) {
    const name = articles[Number(item)] ?? "";
    const rows = ["Volume", "Power", "Weight", "Height", "Colour", "Cable", "Warranty", "Made in"];
    return `<title>${name}</title><nav><a href="/">All kettles</a> <a href="/imprint">Imprint</a></nav><h1>${name}</h1><p>${words(6, name)}</p>
      <table>${rows.map((row, n) => `<tr><th>${row}</th><td>${n * 7 + Number(item)}</td></tr>`).join("")}</table>
      <button onclick="more.hidden = false">Details</button><button onclick="note.textContent = 'Noted for comparison'">Compare</button>
      <p role=status id=note></p><section id=more hidden><h2>Details</h2><p>${words(4, "Its jug")}</p></section>
      <ul>${articles
        .slice(0, 6)
        .map((other, n) => `<li><a href="/item/${n}">See also ${other}</a></li>`)
        .join("")}</ul>`;
  }
  const wanted = searchParams.get("q") ?? "";
  const found = articles.flatMap((name, n) =>
    name.includes(wanted) ? [`<li><a href="/item/${n}">${name}</a> ${n + 19},90 EUR</li>`] : [],
  );
  return `<title>Kettles</title><h1>Kettles</h1><form><label>Search <input name=q value="${wanted}"></label><button>Search</button></form><ul>${found.join("")}</ul>`;
}

const readItem = (name: string): Move[] => [
  on("browser_click_element", `link "${name}"`),
  on("browser_click_element", 'button "Details"'),
  on("browser_click_element", 'button "Compare"'),
  call("browser_go_back", {}),
];

/** Four articles read in a browser, after a search. */
export const browsing = (url: string): Move[] => [
  call("browser_go_to_url", { url }),
  on("browser_input_text", 'textbox "Search"', { text: "Kettle", submit: true }),
  ...["Kettle A", "Kettle D", "Kettle K", "Kettle Q"].flatMap(readItem),
  on("browser_input_text", 'textbox "Search"', { text: "Kettle B", submit: true }),
  call("browser_extract_content", { goal: "the price of Kettle B" }),
  { text: "Kettle A is the best of the five." },
];

const lines = (n: number) =>
  Array.from({ length: 9 }, (_, at) => `line ${at} of part ${n}: ${at * n} of ${at + n}`).join("\n");

/** Ten files written and read again. */
export const filing: Move[] = [
  ...Array.from({ length: workLength / 2 }, (_, n) => [
    call("str_replace_editor", { command: "create", path: `part-${n}.md`, file_text: lines(n) }),
    call("str_replace_editor", { command: "view", path: `part-${n}.md` }),
  ]).flat(),
  { text: "The ten parts are written." },
];
