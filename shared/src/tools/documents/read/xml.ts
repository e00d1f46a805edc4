import { DOMParser } from "linkedom";

/** An element or text of an XML document. */
export type XmlNode = {
  readonly nodeName: string;
  readonly childNodes: Iterable<XmlNode>;
  readonly textContent: string | null;
  getAttribute?(name: string): string | null;
};

/** Parses XML. No entity beyond XML's own five is known, and nothing is loaded. */
export function parseXml(text: string): XmlNode {
  return new DOMParser().parseFromString(text, "text/xml") as unknown as XmlNode;
}

/** The elements of this name (as written, with its prefix) below a node, in order. */
export function xmlElements(node: XmlNode | undefined, name: string): XmlNode[] {
  if (node === undefined) return [];
  return [...node.childNodes].flatMap((child) =>
    child.nodeName === name ? [child, ...xmlElements(child, name)] : xmlElements(child, name),
  );
}

/** An attribute's value; "" if there is none. */
export function xmlAttribute(node: XmlNode | undefined, name: string): string {
  const value = node?.getAttribute?.(name) ?? "";
  // The parser gives the values of attributes as it would write them.
  return value.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&#160;", "\u00a0").replaceAll("&amp;", "&");
}
