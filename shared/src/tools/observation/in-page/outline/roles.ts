import type { PageElement } from "../dom.ts";
import { keptOf, type Reader } from "../reader.ts";

/** Knows the roles of elements. Exists in the page, for one look. */
export type Roles = {
  /** Its ARIA role, its own or that of its tag; "" when it has none or is for presentation only. */
  of(element: PageElement): string;
};

/** Runs in the page: creates `Roles`. */
export function openRoles(reader: Reader): Roles {
  const tables = roleTables();
  const known = new Map<PageElement, string>();
  return { of: (element) => keptOf(known, element, () => roleOf(reader, tables, element)) };
}

type RoleTables = ReturnType<typeof roleTables>;

/**
 * Runs in the page: all roles, and those that tags and the types of fields stand for, as "ARIA in
 * HTML" says.
 */
export function roleTables() {
  const words = (text: string) => text.split(/\s+/);
  const pairs = (text: string) => new Map(words(text).map((pair) => pair.split("=") as [string, string]));
  return {
    valid: new Set(
      words(`alert alertdialog application article banner blockquote button caption cell checkbox code columnheader
      combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic
      grid gridcell group heading image img insertion link list listbox listitem log main mark marquee math menu menubar
      menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio
      radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong
      subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid
      treeitem`),
    ),
    ofTag: pairs(`ARTICLE=article ASIDE=complementary BLOCKQUOTE=blockquote BUTTON=button CAPTION=caption CODE=code
      DATALIST=listbox DD=definition DEL=deletion DETAILS=group DFN=term DIALOG=dialog DT=term EM=emphasis
      FIELDSET=group FIGURE=figure FRAME=iframe H1=heading H2=heading H3=heading H4=heading H5=heading H6=heading
      HR=separator IFRAME=iframe INS=insertion LI=listitem MAIN=main MARK=mark MATH=math MENU=list METER=meter
      NAV=navigation OL=list OPTGROUP=group OPTION=option OUTPUT=status P=paragraph PROGRESS=progressbar SEARCH=search
      STRONG=strong SUB=subscript SUP=superscript SVG=img TABLE=table TBODY=rowgroup TEXTAREA=textbox TFOOT=rowgroup
      THEAD=rowgroup TIME=time TR=row UL=list`),
    ofType: pairs(`button=button checkbox=checkbox file=button hidden= image=button number=spinbutton radio=radio
      range=slider reset=button search=searchbox submit=button`),
    /** What the tags belong to that mean nothing where that is for presentation only. */
    holder: pairs(`CAPTION=table LI=ul,ol,menu TBODY=table TD=table TFOOT=table TH=table THEAD=table TR=table`),
    sections: `article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]`,
  };
}

/** Runs in the page. */
export function roleOf(reader: Reader, tables: RoleTables, element: PageElement): string {
  const own = ownRole(reader, tables, element);
  if (own === "none" || own === "presentation") {
    // What can have the focus, or has a name, is no mere presentation.
    const matters =
      isNamed(reader, element) || reader.matches(element, "a[href],button,input,select,textarea,[tabindex]");
    return matters ? roleByTag(reader, tables, element) : "";
  }
  if (own !== undefined) return own === "image" ? "img" : own;
  const holder = tables.holder.get(reader.tag(element));
  const outer = holder === undefined ? null : reader.closest(element, holder);
  const role = outer === null ? undefined : ownRole(reader, tables, outer);
  return role === "none" || role === "presentation" ? "" : roleByTag(reader, tables, element);
}

/** Runs in the page: the first role of its own that there is. */
export function ownRole(reader: Reader, { valid }: RoleTables, element: PageElement): string | undefined {
  const told = reader.attribute(element, "role");
  return told === null
    ? undefined
    : told
        .toLowerCase()
        .split(/\s+/)
        .find((role) => valid.has(role));
}

/**
 * Runs in the page: the role of its tag, except that a `summary` is a button, as a person sees it.
 */
export function roleByTag(reader: Reader, tables: RoleTables, element: PageElement): string {
  const tag = reader.tag(element);
  switch (tag) {
    case "A":
    case "AREA": {
      const leads = ["href", "xlink:href"].some((name) => reader.attribute(element, name) !== null);
      return leads ? "link" : "";
    }
    case "FOOTER":
    case "HEADER":
      if (reader.closest(element, tables.sections) !== null) return "";
      return tag === "HEADER" ? "banner" : "contentinfo";
    case "FORM":
    case "SECTION":
      return isNamed(reader, element) ? (tag === "FORM" ? "form" : "region") : "";
    case "IMG":
      return reader.attribute(element, "alt") === "" && !isNamed(reader, element) ? "" : "img";
    case "INPUT": {
      const role = tables.ofType.get(String(element.type ?? ""));
      const [list] = role === undefined || role === "searchbox" ? reader.named(element, "list") : [];
      return list === undefined ? (role ?? "textbox") : "combobox";
    }
    case "LABEL":
      return hiddenBox(reader, element) === undefined ? "" : String(element.control?.type);
    case "SELECT":
      return element.multiple === true || Number(reader.attribute(element, "size") ?? 0) > 1 ? "listbox" : "combobox";
    case "SUMMARY": {
      const parent = reader.parent(element);
      return parent !== undefined && reader.tag(parent) === "DETAILS" ? "button" : "";
    }
    case "TD": {
      const table = reader.closest(element, "[role=grid],[role=treegrid],table");
      const role = (table && reader.attribute(table, "role")) ?? "";
      return role === "grid" || role === "treegrid" ? "gridcell" : "cell";
    }
    case "TH":
      return headerRole(reader, element);
    case "DIV":
    case "PRE":
    case "SPAN":
      return isEditor(reader, element) ? "textbox" : (tables.ofTag.get(tag) ?? "");
    default:
      return tables.ofTag.get(tag) ?? "";
  }
}

/** Runs in the page: whether a person writes into it, though it is no field. */
export function isEditor(reader: Reader, element: PageElement): boolean {
  const editable = reader.attribute(element, "contenteditable");
  return editable !== null && /^(?:|true|plaintext-only)$/i.test(editable);
}

/** Runs in the page: the checkbox or radio button that a label stands for, as that is not drawn. */
export function hiddenBox(reader: Reader, element: PageElement): PageElement | undefined {
  const control = reader.tag(element) === "LABEL" ? element.control : undefined;
  if (!control || !/^(?:checkbox|radio)$/.test(String(control.type))) return undefined;
  return reader.isRendered(control) && reader.style(control).visibility === "visible" ? undefined : control;
}

/** Runs in the page: whether an attribute names it. */
export function isNamed(reader: Reader, element: PageElement): boolean {
  return ["aria-label", "aria-labelledby", "title"].some(
    (name) => (reader.attribute(element, name) ?? "").trim() !== "",
  );
}

/** Runs in the page: whether a header cell is one of a row or of a column. */
export function headerRole(reader: Reader, element: PageElement): string {
  const scope = reader.attribute(element, "scope") ?? "";
  if (scope.startsWith("row")) return "rowheader";
  if (scope.startsWith("col")) return "columnheader";
  const row = reader.parent(element);
  const beside = row === undefined ? [] : Array.from(reader.children(row));
  const holdsData = beside.some((cell) => cell.nodeType === 1 && reader.tag(cell as PageElement) === "TD");
  return holdsData ? "rowheader" : "columnheader";
}
