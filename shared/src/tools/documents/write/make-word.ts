import {
  AlignmentType,
  BorderStyle,
  Document,
  type FileChild,
  HeadingLevel,
  LevelFormat,
  Packer,
  PageBreak,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  WidthType,
} from "docx";
import { parseHTML } from "linkedom";
import type { WordRequest } from "./word-protocol.ts";
import { type HtmlNode, inlineRuns } from "./word-runs.ts";

/** Levels of numbered lists, and the look of quotes and code. */
const levels = 9;
const quoteIndent = 500;

/** The lists of a document so far, and the numbers that some of them begin with. */
type Lists = { count: number; readonly starts: Set<number> };

/** The place in lists and quotes that a block is in; a list is named by its numbering. */
type ListPosition = {
  readonly list: string | undefined;
  readonly level: number;
  readonly instance: number;
};

/** A Word document of a body of HTML: headings, lists, tables, code, quotes and pictures. */
export async function makeWord({ title, html }: WordRequest): Promise<Uint8Array> {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  const lists: Lists = { count: 0, starts: new Set() };
  const children = blocks(document.body as unknown as HtmlNode, { list: undefined, level: 0, instance: 0 }, lists);
  const level = (at: number, format: (typeof LevelFormat)[keyof typeof LevelFormat], text: string, start = 1) => ({
    level: at,
    start,
    format,
    text,
    alignment: AlignmentType.START,
    style: { paragraph: { indent: { left: 500 * (at + 1), hanging: 300 } } },
  });
  const config = [
    { reference: "bullets", levels: steps((at) => level(at, LevelFormat.BULLET, at % 2 === 0 ? "•" : "–")) },
    ...[...lists.starts].map((start) => ({
      reference: numbersFrom(start),
      levels: steps((at) => level(at, LevelFormat.DECIMAL, `%${at + 1}.`, start)),
    })),
  ];
  const made = new Document({
    ...(title !== undefined && { title }),
    creator: "Manyhands",
    numbering: { config },
    sections: [{ children: children.length === 0 ? [new Paragraph("")] : children }],
  });
  return await Packer.toBuffer(made);
}

/** The name of the numbering of lists that begin with this number. */
function numbersFrom(start: number): string {
  return `numbers from ${start}`;
}

function steps<T>(of: (at: number) => T): T[] {
  return Array.from({ length: levels }, (_, at) => of(at));
}

const headings: Readonly<Record<string, (typeof HeadingLevel)[keyof typeof HeadingLevel]>> = {
  H1: HeadingLevel.HEADING_1,
  H2: HeadingLevel.HEADING_2,
  H3: HeadingLevel.HEADING_3,
  H4: HeadingLevel.HEADING_4,
  H5: HeadingLevel.HEADING_5,
  H6: HeadingLevel.HEADING_6,
};

function blocks(node: HtmlNode, place: ListPosition, lists: Lists): FileChild[] {
  return [...node.childNodes].flatMap((child) => block(child, place, lists));
}

function block(node: HtmlNode, place: ListPosition, lists: Lists): FileChild[] {
  const heading = headings[node.nodeName];
  if (heading !== undefined) return [new Paragraph({ heading, keepNext: true, children: inlineRuns(node) })];
  switch (node.nodeName) {
    case "UL":
    case "OL": {
      const list = node.nodeName === "UL" ? "bullets" : numbering(node, lists);
      const level = place.list === undefined ? 0 : Math.min(place.level + 1, levels - 1);
      return blocks(node, { list, level, instance: ++lists.count }, lists);
    }
    case "LI":
      return listItem(node, place, lists);
    case "TABLE":
      return [tableOf(node), new Paragraph("")];
    case "BLOCKQUOTE":
      return [...node.childNodes].flatMap((child) => {
        const children = inlineRuns(child);
        return children.length === 0 ? [] : [new Paragraph({ children, indent: { left: quoteIndent } })];
      });
    case "PRE":
      return codeLines(node);
    case "HR":
      if (node.getAttribute?.("class") === "page-break") return [new Paragraph({ children: [new PageBreak()] })];
      return [new Paragraph({ border: { bottom: { style: BorderStyle.SINGLE, size: 6, color: "999999" } } })];
    default: {
      const children = inlineRuns(node);
      return children.length === 0 ? [] : [new Paragraph({ children, spacing: { after: 120 } })];
    }
  }
}

/** The numbering of a numbered list, which may go on from another one. */
function numbering(node: HtmlNode, lists: Lists): string {
  const given = Number.parseInt(node.getAttribute?.("start") ?? "", 10);
  const start = given >= 0 ? given : 1;
  lists.starts.add(start);
  return numbersFrom(start);
}

const nested = ["UL", "OL", "TABLE", "PRE", "BLOCKQUOTE"];

function listItem(node: HtmlNode, { list, level, instance }: ListPosition, lists: Lists): FileChild[] {
  const own = [...node.childNodes].filter(({ nodeName }) => !nested.includes(nodeName));
  const inner = [...node.childNodes].filter(({ nodeName }) => nested.includes(nodeName));
  const children = own.flatMap((child) => inlineRuns(child));
  return [
    new Paragraph({ children, numbering: { reference: list ?? "bullets", level, instance } }),
    ...inner.flatMap((child) => block(child, { list, level, instance }, lists)),
  ];
}

function codeLines(node: HtmlNode): FileChild[] {
  const lines = (node.textContent ?? "").replace(/\n$/, "").split("\n");
  return lines.map(
    (text) =>
      new Paragraph({
        children: inlineRuns({ nodeName: "CODE", textContent: text, childNodes: [] }),
        shading: { fill: "F4F4F4" },
        spacing: { after: 0 },
      }),
  );
}

function tableOf(node: HtmlNode): Table {
  const rows = elements(node, "TR").map(
    (row, at) =>
      new TableRow({
        // Some readers take a row that says it is no head for one.
        ...(at === 0 && { tableHeader: true }),
        children: [...row.childNodes]
          .filter(({ nodeName }) => nodeName === "TH" || nodeName === "TD")
          .map((cell) => tableCell(cell)),
      }),
  );
  return new Table({ rows, width: { size: 100, type: WidthType.PERCENTAGE } });
}

function tableCell(cell: HtmlNode): TableCell {
  const isHead = cell.nodeName === "TH";
  const align = cell.getAttribute?.("align");
  const alignment =
    align === "right" ? AlignmentType.RIGHT : align === "center" ? AlignmentType.CENTER : AlignmentType.LEFT;
  return new TableCell({
    children: [new Paragraph({ children: inlineRuns(cell, { bold: isHead }), alignment })],
    margins: { left: 80, right: 80, top: 40, bottom: 40 },
    ...(isHead && { shading: { fill: "F0F0F0" } }),
  });
}

function elements(node: HtmlNode, name: string): HtmlNode[] {
  return [...node.childNodes].flatMap((child) => (child.nodeName === name ? [child] : elements(child, name)));
}
