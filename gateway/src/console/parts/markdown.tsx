import { safeText } from "../words/format.ts";
import { type Block, type Inline, parseMarkdown } from "./parse-markdown.ts";

/**
 * A text in Markdown, from a model or a file: only known marks become elements, everything else
 * stays text, and nothing is fetched.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div class="markdown">
      {parseMarkdown(safeText(text)).map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.type) {
    case "heading": {
      const Tag = `h${Math.min(block.level + 2, 6)}` as "h3" | "h4" | "h5" | "h6";
      return <Tag>{inline(block.inline)}</Tag>;
    }
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys.
        <pre class="code" tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "list": {
      const Tag = block.ordered ? "ol" : "ul";
      return (
        <Tag>
          {block.items.map((item, index) => (
            <li key={index}>{inline(item)}</li>
          ))}
        </Tag>
      );
    }
    case "table":
      return <TableView rows={block.rows} />;
    case "rule":
      return <hr />;
    case "quote":
      return <blockquote>{inline(block.inline)}</blockquote>;
    default:
      return <p>{inline(block.inline)}</p>;
  }
}

function TableView({ rows }: { rows: readonly (readonly (readonly Inline[])[])[] }) {
  return (
    <div class="tblw">
      <table class="tbl">
        <tbody>
          {rows.map((cells, index) => (
            <tr key={index}>
              {cells.map((cell, column) => {
                const Cell = index === 0 ? "th" : "td";
                return <Cell key={column}>{inline(cell)}</Cell>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(parts: readonly Inline[]) {
  return parts.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "link")
      return (
        <a href={part.href} title={part.href} rel="noopener noreferrer" target="_blank">
          {part.text}
        </a>
      );
    const Tag = part.type;
    return <Tag>{part.text}</Tag>;
  });
}
