import { writeXlsxStream } from "hucre/xlsx";

const linesOfPage = 45;

/** A PDF with so many pages, each full of text. */
export function longPdf(pages: number): Uint8Array {
  const objects: string[] = ["<</Type/Catalog/Pages 2 0 R>>", ""];
  const kids: string[] = [];
  for (let page = 1; page <= pages; page++) {
    const lines = Array.from({ length: linesOfPage }, (_, line) => {
      const text = `Page ${page}, line ${line}: the quick brown fox jumps over the lazy dog near the bank.`;
      return `(${text}) Tj T*`;
    });
    const content = `BT /F1 11 Tf 14 TL 60 740 Td ${lines.join("\n")} ET`;
    kids.push(`${objects.length + 1} 0 R`);
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${objects.length + 2} 0 R/Resources<</Font<</F1 3 0 R>>>>>>`,
    );
    objects.push(`<</Length ${content.length}>>\nstream\n${content}\nendstream`);
    // The font comes third, behind the list of pages.
    if (page === 1) {
      const [firstPage = "", firstContent = ""] = objects.splice(-2);
      objects.push("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>");
      kids[0] = "4 0 R";
      objects.push(firstPage.replace("/Contents 4 0 R", "/Contents 5 0 R"), firstContent);
    }
  }
  objects[1] = `<</Type/Pages/Kids[${kids.join(" ")}]/Count ${pages}>>`;
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

/** A workbook of one sheet with so many rows of ten columns: codes, names and numbers. */
export async function longWorkbook(rows: number): Promise<Uint8Array> {
  async function* generate() {
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed;
    };
    for (let row = 0; row < rows; row++)
      yield Array.from({ length: 10 }, (_, column) => (column === 0 ? `name ${row % 5_000}` : random()));
  }
  return new Response(writeXlsxStream(generate(), { name: "Data" })).bytes();
}
