import type { ComponentChildren } from "preact";
import { safeText } from "../words/format.ts";
import { words } from "../words/words.ts";
import type { Inline } from "./parse-inline.ts";
import { type Align, type Block, type Item, parseMarkdown } from "./parse-markdown.ts";

/**
 * A text in Markdown, from a model or a file: only known marks become elements, everything else
 * stays text, and nothing is fetched. Each block is written in the direction of its language.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div class="markdown">
      <Blocks blocks={parseMarkdown(safeText(text))} />
    </div>
  );
}

function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.type) {
    case "heading": {
      const Tag = `h${Math.min(block.level + 2, 6)}` as "h3" | "h4" | "h5" | "h6";
      return <Tag dir="auto">{inline(block.inline)}</Tag>;
    }
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys.
        <pre class="code" tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "list":
      return <ListView start={block.start} items={block.items} />;
    case "table":
      return <TableView align={block.align} rows={block.rows} />;
    case "rule":
      return <hr />;
    case "quote":
      return (
        <blockquote dir="auto">
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    default:
      return <p dir="auto">{inline(block.inline)}</p>;
  }
}

function ListView({ start, items }: { start: number | undefined; items: readonly Item[] }) {
  const entries = items.map((item, index) => (
    <li key={index} class={item.done === undefined ? undefined : "todo"}>
      {item.done !== undefined && (
        <input
          type="checkbox"
          checked={item.done}
          disabled
          aria-label={item.done ? words().taskIsDone : words().taskIsOpen}
        />
      )}
      <ItemView blocks={item.blocks} />
    </li>
  ));
  if (start === undefined) return <ul dir="auto">{entries}</ul>;
  return (
    <ol dir="auto" start={start}>
      {entries}
    </ol>
  );
}

/** An entry's first sentence stands beside its mark. */
function ItemView({ blocks: [first, ...more] }: { blocks: readonly Block[] }) {
  if (first === undefined) return null;
  return (
    <>
      {first.type === "paragraph" ? inline(first.inline) : <BlockView block={first} />}
      <Blocks blocks={more} />
    </>
  );
}

const classes = { start: undefined, center: "m", end: "r" } as const;

function TableView({ align, rows }: Pick<Block & { type: "table" }, "rows"> & { align: readonly Align[] }) {
  return (
    // biome-ignore lint/a11y: it scrolls and has to be reachable by keys; many are no landmarks.
    <div class="tblw" role="group" tabIndex={0} aria-label={words().aTable}>
      <table class="tbl">
        <tbody>
          {rows.map((cells, index) => (
            <tr key={index}>
              {cells.map((cell, column) => {
                const Cell = index === 0 ? "th" : "td";
                return (
                  <Cell key={column} dir="auto" class={classes[align[column] ?? "start"]}>
                    {inline(cell)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(parts: readonly Inline[]): ComponentChildren {
  return parts.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "code") return <code>{part.text}</code>;
    if (part.type === "break") return <br />;
    if (part.type === "link")
      return (
        <a href={part.href} title={part.href} rel="noopener noreferrer" target="_blank">
          {inline(part.inline)}
        </a>
      );
    const Tag = part.type;
    return <Tag>{inline(part.inline)}</Tag>;
  });
}
