/**
 * The anchor of a heading as code hosts make it, so that one link leads there on them and on the
 * site.
 */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}
