/** A page of a PDF: what is drawn on it, its size in points, and the fields that are filled in. */
export type PdfPage = {
  readonly content: string;
  readonly size?: readonly [width: number, height: number];
  readonly fields?: Readonly<Record<string, string>>;
};

/** A line of text in the page's font, `size` points high. */
export function pdfText(text: string, x: number, y: number, size = 24): string {
  return `BT /F1 ${size} Tf ${x} ${y} Td (${text}) Tj ET`;
}

/** A PDF of one page with one line. */
export function pdf(line: string): Buffer<ArrayBuffer> {
  return pdfOf([{ content: pdfText(line, 72, 720) }]);
}

/** A bookmark of a PDF: to a page, to what is none, or to a `name` that nothing defines. */
type PdfBookmark = {
  readonly title: string;
  readonly page: number;
  readonly level?: 1 | 2;
  readonly name?: string;
};

/** A PDF of these pages. `trailer` are further entries of its trailer. */
export function pdfOf(
  pages: readonly PdfPage[],
  {
    title,
    trailer = "",
    bookmarks = [],
  }: { readonly title?: string; readonly trailer?: string; readonly bookmarks?: readonly PdfBookmark[] } = {},
): Buffer<ArrayBuffer> {
  const objects = ["", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", `<</Title(${title ?? ""})>>`];
  const add = (object: string) => `${objects.push(object)} 0 R`;
  const fields: string[] = [];
  const kids = pages.map(({ content, size: [width, height] = [612, 792], fields: filled = {} }) => {
    const stream = add(`<</Length ${content.length}>>\nstream\n${content}\nendstream`);
    const own = Object.entries(filled).map(([name, value]) =>
      add(`<</Type/Annot/Subtype/Widget/FT/Tx/T(${name})/V(${value})/Rect[0 0 9 9]>>`),
    );
    fields.push(...own);
    return add(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Contents ${stream}/Annots[${own.join(" ")}]/Resources<</Font<</F1 3 0 R>>>>>>`,
    );
  });
  const outlines = bookmarks.length === 0 ? "" : `/Outlines ${outlinesOf(bookmarks, kids, objects)}`;
  objects[0] = `<</Type/Catalog/Pages 2 0 R${outlines}/AcroForm<</Fields[${fields.join(" ")}]>>>>`;
  objects[1] = `<</Type/Pages/Kids[${kids.join(" ")}]/Count ${kids.length}>>`;
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  text += `xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<</Size ${count}/Root 1 0 R/Info 4 0 R${trailer}>>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

/** Adds the objects of an outline; those of level 2 belong to the bookmark of level 1 before. */
function outlinesOf(bookmarks: readonly PdfBookmark[], kids: readonly string[], objects: string[]): string {
  const root = objects.length + 1;
  const idOf = (at: number | undefined) => (at === undefined ? undefined : `${root + 1 + at} 0 R`);
  const levels = bookmarks.map(({ level = 1 }) => level);
  const parentOf = (at: number) => (levels[at] === 2 ? levels.lastIndexOf(1, at) : -1);
  const under = (parent: number) => [...levels.keys()].filter((at) => parentOf(at) === parent);
  const list = (among: readonly number[]) =>
    among.length === 0 ? "" : `/First ${idOf(among[0])}/Last ${idOf(among.at(-1))}/Count ${among.length}`;
  objects.push(`<</Type/Outlines${list(under(-1))}>>`);
  for (const [at, { title, page, name }] of bookmarks.entries()) {
    const beside = under(parentOf(at));
    const next = idOf(beside[beside.indexOf(at) + 1]);
    const dest = name === undefined ? `[${kids[page - 1] ?? "3 0 R"}/Fit]` : `(${name})`;
    const parent = parentOf(at) === -1 ? `${root} 0 R` : idOf(parentOf(at));
    objects.push(
      `<</Title(${title})/Parent ${parent}/Dest${dest}${next === undefined ? "" : `/Next ${next}`}${list(under(at))}>>`,
    );
  }
  return `${root} 0 R`;
}
