import type { StoredFile } from "manyhands/internal/core/workspace";
import { artifactPath, isPicture, Picture } from "../../../parts/picture.tsx";

/** The pictures that came with an event. */
export function picturesIn(event: object): readonly StoredFile[] {
  const images = "images" in event && Array.isArray(event.images) ? (event.images as StoredFile[]) : [];
  return images.filter(({ mediaType }) => isPicture(mediaType));
}

/** Stored pictures, one below the other. */
export function Pictures({ files }: { files: readonly StoredFile[] }) {
  return (
    <>
      {files
        .filter(({ mediaType }) => isPicture(mediaType))
        .map((file) => (
          <Picture key={file.sha256} path={artifactPath(file)} type={file.mediaType} name={file.name} />
        ))}
    </>
  );
}
