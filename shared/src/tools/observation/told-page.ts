import type { Detail } from "./lines.ts";
import type { PlacedLine } from "./page-order.ts";
import type { PictureCells } from "./picture-cells.ts";

/** What a conversation that has an observation knows of a page. */
export type ToldPage = {
  /** The tab and the document in it. */
  readonly document: string;
  readonly title: string;
  readonly header: readonly string[];
  /** The lines of the outline that it has, and how they are written. */
  readonly lines: readonly string[];
  /** Those of them that the newest look found too, in the order of the page. */
  readonly placed: readonly PlacedLine[];
  readonly detail: Detail;
  /** How far the page was scrolled. */
  readonly above: number;
  /** The ref of the element with the focus. */
  readonly focus: string | undefined;
  /** What the picture that it has shows where something is drawn. */
  readonly picture: PictureCells | undefined;
  /** The notices that the observation told. */
  readonly notices: readonly string[];
};
