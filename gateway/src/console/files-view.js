import { request } from "./api.js";
import { element } from "./element.js";
import { sizeText } from "./words.js";

/** Image types that are shown: only those that cannot contain scripts. */
const imageType = /^image\/(?:png|jpeg|gif|webp)$/;

/**
 * The files of a run as download links, with previews of images.
 *
 * @param {readonly { name: string, mediaType: string, size: number, url: string }[]} files
 * @returns {HTMLElement}
 */
export function filesView(files) {
  return element("ul", { class: "files" }, files.map(fileView));
}

function fileView(file) {
  // The page may be open at an address other than the gateway's public one.
  const pathname = file.url.slice(file.url.lastIndexOf("/artifacts/"));
  const name = file.name.split("/").at(-1);
  const link = element(
    "a",
    {
      href: `.${pathname}`,
      download: name,
      onclick(event) {
        event.preventDefault();
        void save(pathname, name);
      },
    },
    file.name,
  );
  return element(
    "li",
    {},
    link,
    element("span", { class: "quiet" }, ` ${sizeText(file.size)}`),
    imageType.test(file.mediaType) && imageView(pathname, file),
  );
}

/** Fetched by script, because neither links nor images carry the token. */
async function contentOf(pathname, type) {
  const bytes = await (await request(pathname)).arrayBuffer();
  return URL.createObjectURL(new Blob([bytes], { type }));
}

async function save(pathname, name) {
  const href = await contentOf(pathname, "application/octet-stream");
  const link = element("a", { href, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

function imageView(pathname, { name, mediaType }) {
  const image = element("img", { alt: name });
  contentOf(pathname, mediaType).then(
    (source) => {
      image.addEventListener("load", () => URL.revokeObjectURL(source), { once: true });
      image.src = source;
    },
    () => image.remove(),
  );
  return image;
}
