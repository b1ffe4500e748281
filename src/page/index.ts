import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlanDocument } from '../core/plan-document.ts';
import { sanitiseLine } from '../render/untrusted.ts';
import type { UiStart } from './live.ts';
import { packDocument } from './pack.ts';

/**
 * `page/` shows documents in a browser: a plan or drift as one file that needs no network, and what
 * `callsheet ui` serves. What runs in the browser lies in `browser/`; the build bundles it.
 */

/** A plan or drift as one HTML file: the document that `--format json` prints, and what shows it. */
export async function renderReport(document: PlanDocument): Promise<string> {
  const packed = packDocument(document);
  const assets = await pageAssets('report');
  return framePage({ title: packed.title, assets, data: JSON.stringify(packed), policy: [] });
}

/** The page that `callsheet ui` serves. It may ask its own server for documents and events, and nobody else. */
export async function renderUi(start: UiStart): Promise<string> {
  return framePage({
    title: `Callsheet: ${start.dir}`,
    assets: await pageAssets('ui'),
    data: JSON.stringify(start),
    policy: ["connect-src 'self'"],
  });
}

/** What a page is made of. */
type PageParts = {
  readonly title: string;
  readonly assets: Assets;
  /** JSON, as it is. */
  readonly data: string;
  /** Directives beside those that every page has. */
  readonly policy: readonly string[];
};

/** The id of the element that carries the data. */
const DATA = 'data';

/**
 * One HTML file. Its policy lets the one script and the one style run that were built with it, by their
 * hashes, and nothing else: no other script, no request, no form, no frame, and no text taken for markup.
 */
function framePage({ title, assets, data, policy }: PageParts): string {
  const { script, style } = assets;
  const directives = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    ...policy,
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${directives.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="generator" content="Callsheet">
<title>${escapeHtml(sanitiseLine(title))}</title>
<style>${style}</style>
</head>
<body>
<div id="app"><noscript><main><h1>${escapeHtml(sanitiseLine(title))}</h1><p>This page needs JavaScript to show the changes. It runs none but its own and asks for nothing from any network. <code>callsheet plan --format markdown</code> gives the same without it.</p></main></noscript></div>
<script type="application/json" id="${DATA}">${escapeScript(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** A source of the policy that lets exactly this text run. */
function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const MARKUP: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => MARKUP[character] ?? character);
}

/**
 * JSON in which nothing ends the element that it stands in or begins another, and no line ends that JavaScript
 * did not always take for one. A parser of JSON reads what it would have read.
 */
export function escapeScript(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What is sent to a browser beside the data: one script and one style, as they stand in a page. */
export type Assets = { readonly script: string; readonly style: string };

/** The pages that there are; each begins with the file of its name in `browser/`. */
export const PAGES = ['report', 'ui'] as const;
type PageName = (typeof PAGES)[number];

const bundled = new Map<PageName, Promise<Assets>>();

/** In the bundle these are texts: what is bundled here when it is first asked for, the build has bundled already. */
export async function pageAssets(page: PageName): Promise<Assets> {
  const known = bundled.get(page) ?? bundlePage(page);
  bundled.set(page, known);
  return known;
}

/** Bundles a page, and names the files that went into it. */
export async function bundlePage(
  page: PageName,
): Promise<Assets & { readonly modules: readonly string[] }> {
  const { build } = await import('rolldown');
  const folder = join(import.meta.dirname, 'browser');
  const { output } = await build({
    input: join(folder, `${page}.tsx`),
    platform: 'browser',
    logLevel: 'warn',
    write: false,
    transform: { target: 'es2023' },
    output: { format: 'iife', minify: true, banner: BANNER },
  });
  const [chunk] = output;
  const script = chunk.code.trim();
  // Either would end the element that the script stands in.
  if (/<\/script|<!--/i.test(script)) throw new Error(`the page ${page} holds an end of script`);
  const style = await Promise.all(
    STYLES[page].map((name) => readFile(join(folder, 'style', `${name}.css`), 'utf8')),
  );
  return { script, style: withoutComments(style.join('\n')), modules: chunk.moduleIds };
}

const SHARED = ['frame', 'list', 'change', 'views'];
/** In the order of the cascade. */
const STYLES: { readonly [page in PageName]: readonly string[] } = {
  report: [...SHARED, 'media'],
  ui: [...SHARED, 'ui', 'media'],
};

const BANNER =
  '/*! Contains preact (MIT, Copyright (c) 2015-present Jason Miller) and diff (BSD-3-Clause, Copyright (c) 2009-2015 Kevin Decker). */';

function withoutComments(style: string): string {
  return style
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\n\s*/g, '\n')
    .trim();
}
