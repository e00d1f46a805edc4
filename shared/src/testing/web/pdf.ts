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

/** A PDF of these pages. `trailer` are further entries of its trailer. */
export function pdfOf(
  pages: readonly PdfPage[],
  { title, trailer = "" }: { readonly title?: string; readonly trailer?: string } = {},
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
  objects[0] = `<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[${fields.join(" ")}]>>>>`;
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
