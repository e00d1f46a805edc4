import { useEffect, useState } from "preact/hooks";
import { request } from "../../../api/client.ts";
import { Markdown } from "../../../parts/markdown.tsx";
import { Picture } from "../../../parts/picture.tsx";
import { sizeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { ChartView } from "../render/chart-view.tsx";
import { CodeBlock, prettyJson } from "../render/code-block.tsx";
import { readDiff } from "../render/diff-lines.ts";
import { DiffView } from "../render/diff-view.tsx";
import { readCsv } from "../render/read-table.ts";
import { TableView } from "../render/table-view.tsx";
import { DocumentView } from "./document-view.tsx";
import { PageView } from "./page-view.tsx";

/** A file that can be shown: one in a workspace, or one that the run handed over. */
export type PreviewedFile = {
  readonly key: string;
  readonly group: string;
  readonly path: string;
  readonly size: number;
  readonly modifiedAt?: string;
  /** Where the API has its content. */
  readonly source: string;
};

/** The most bytes of a file that is shown whole, and of the beginning of a longer one. */
const maxBytes = 2_000_000;
const beginningBytes = 200_000;

const pictures: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

/**
 * What is in a file, as inert content: a picture, a table, Markdown, changes, a document, a page in
 * a frame of its own, or its text. Drawings that may contain scripts are shown as text.
 */
export function FilePreview({ file }: { file: PreviewedFile }) {
  const text = words().run;
  if (file.size === 0) return <p class="t3">{text.emptyFile}</p>;
  const kind = file.path.split(".").at(-1)?.toLowerCase() ?? "";
  const picture = pictures[kind];
  if (picture !== undefined) return <Picture path={file.source} type={picture} name={file.path} />;
  if (kind === "pdf") return <DocumentView file={file} />;
  if (file.size <= maxBytes) return <TextPreview file={file} kind={kind} />;
  return (
    <>
      <p class="t3 small">{text.beginning(sizeText(beginningBytes), sizeText(file.size))}</p>
      <TextPreview file={file} kind={isTable(kind) ? kind : ""} />
    </>
  );
}

const isTable = (kind: string): boolean => kind === "csv" || kind === "tsv";

function TextPreview({ file, kind }: { file: PreviewedFile; kind: string }) {
  const [content, setContent] = useState<string | undefined | null>(undefined);
  useEffect(() => {
    const gone = new AbortController();
    const isLong = file.size > maxBytes;
    request(file.source, { signal: gone.signal })
      .then(async (response) => (isLong ? await beginningOf(response) : await response.arrayBuffer()))
      .then(
        (bytes) => setContent(decodeText(bytes, isLong)),
        () => setContent(null),
      );
    return () => gone.abort();
  }, [file.source, file.modifiedAt]);
  if (content === undefined) return <p class="t3">{words().loading}</p>;
  if (content === null) return <p class="t3">{words().run.noPreview}</p>;
  if (kind === "md" || kind === "markdown") return <Markdown text={content} />;
  if (kind === "html" || kind === "htm") {
    const page = <PageView page={content} name={file.path} />;
    // A chart's page lies beside its data.
    const beside = /^(.*\/file\?path=visualization%2F.+)\.html$/.exec(file.source)?.[1];
    if (beside === undefined) return page;
    return (
      <ChartView source={`${beside}.json`} version={file.modifiedAt}>
        {page}
      </ChartView>
    );
  }
  if (isTable(kind)) {
    const [head = [], ...rows] = readCsv(content, content.length, kind === "tsv" ? "\t" : ",");
    return <TableView head={head} rows={rows} />;
  }
  if (kind === "json")
    return (
      <>
        <ChartView source={file.source} version={file.modifiedAt} />
        <CodeBlock text={prettyJson(content)} />
      </>
    );
  const changes = kind === "patch" || kind === "diff" ? readDiff(content) : [];
  return changes.length > 0 ? <DiffView files={changes} /> : <CodeBlock text={content} />;
}

/** How a long file begins; the rest is not fetched. */
async function beginningOf({ body }: Response): Promise<Uint8Array> {
  const reader = body?.getReader();
  const bytes = new Uint8Array(beginningBytes);
  let length = 0;
  while (reader !== undefined && length < bytes.length) {
    const { value, done } = await reader.read();
    if (done) break;
    const piece = value.subarray(0, bytes.length - length);
    bytes.set(piece, length);
    length += piece.length;
  }
  await reader?.cancel();
  return bytes.subarray(0, length);
}

/** The bytes as text; null if they are not text. Of a beginning, its whole lines. */
function decodeText(bytes: ArrayBuffer | Uint8Array, isBeginning: boolean): string | null {
  try {
    // A beginning may end within a letter.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isBeginning });
    if (text.includes("\0")) return null;
    return isBeginning ? text.slice(0, text.lastIndexOf("\n") + 1) || text : text;
  } catch {
    return null;
  }
}
