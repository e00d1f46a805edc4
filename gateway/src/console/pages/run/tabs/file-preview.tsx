import { useEffect, useState } from "preact/hooks";
import { request } from "../../../api/client.ts";
import { Markdown } from "../../../parts/markdown.tsx";
import { words } from "../../../words/words.ts";
import { ChartView } from "../render/chart-view.tsx";
import { CodeBlock, prettyJson } from "../render/code-block.tsx";
import { readDiff } from "../render/diff-lines.ts";
import { DiffView } from "../render/diff-view.tsx";
import { Picture } from "../render/pictures.tsx";
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

/** The most bytes that are shown. */
const maxBytes = 2_000_000;

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
  if (file.size > maxBytes) return <p class="t3">{text.tooLong}</p>;
  return <TextPreview file={file} kind={kind} />;
}

function TextPreview({ file, kind }: { file: PreviewedFile; kind: string }) {
  const [content, setContent] = useState<string | undefined | null>(undefined);
  useEffect(() => {
    const gone = new AbortController();
    request(file.source, { signal: gone.signal })
      .then((response) => response.arrayBuffer())
      .then(
        (bytes) => setContent(decodeText(bytes)),
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
  if (kind === "csv" || kind === "tsv") {
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

/** The bytes as text; null if they are not text. */
function decodeText(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}
