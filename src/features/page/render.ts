import { hash } from 'node:crypto';
import type { PlanDocument } from '../../core/plan-document.ts';
import { escapeUnits } from '../../core/value.ts';
import { renderPlanText } from '../../render/text.ts';
import { escapeHtml, sanitiseLine } from '../../render/untrusted.ts';
import { type Assets, pageAssets } from './assets.ts';
import type { UiStart } from './live.ts';
import { packDocument } from './pack.ts';

/** Columns of the text that stands for a page whose script does not run. */
const PLAIN_WIDTH = 80;

/** A plan or drift as one HTML file: the document that `--format json` prints, and what shows it. */
export async function renderReport(document: PlanDocument): Promise<string> {
  const packed = packDocument(document);
  const assets = await pageAssets('report');
  const text = renderPlanText(document, { width: PLAIN_WIDTH, color: false, verbose: false });
  return frameApp({
    title: packed.title,
    instead: `<main class="plain"><h1 class="unseen">${escapeHtml(sanitiseLine(packed.title))}</h1><pre>${escapeHtml(text)}</pre></main>`,
    assets,
    data: JSON.stringify(packed),
    policy: [],
  });
}

/** Renders the page that `callsheet ui` serves. Its policy allows requests to its own server alone. */
export async function renderUi(start: UiStart): Promise<string> {
  return frameApp({
    title: `Callsheet: ${start.dir}`,
    instead:
      '<main class="plain"><h1>Callsheet</h1><p>This page needs JavaScript. It runs none but its own and asks no network but this machine.</p></main>',
    assets: await pageAssets('ui'),
    data: JSON.stringify(start),
    policy: ["connect-src 'self'"],
  });
}

type AppParts = {
  readonly title: string;
  /** Shown where no script runs; markup, as it is. */
  readonly instead: string;
  readonly assets: Assets;
  /** JSON, as it is. */
  readonly data: string;
  /** Directives beside those that every page has. */
  readonly policy: readonly string[];
};

/** The id of the element that carries the data. */
const DATA = 'data';

/** A page that its script draws from the data beside it. */
function frameApp({ title, instead, assets, data, policy }: AppParts): string {
  const { script, style } = assets;
  const body = `<div id="app"><noscript>${instead}</noscript></div>
<script type="application/json" id="${DATA}">${escapeScript(data)}</script>
<script>${script}</script>`;
  return framePage({
    title,
    style,
    body,
    policy: [`script-src ${computeHash(script)}`, ...policy],
  });
}

type PageParts = {
  readonly title: string;
  readonly style: string;
  /** Markup, as it is. */
  readonly body: string;
  readonly policy: readonly string[];
};

/**
 * One HTML file. Its policy lets the one style apply that was built with it, by its hash, the script that `policy`
 * names, and nothing else: no other script, no request, no form, no frame, and no text taken for markup.
 */
function framePage({ title, style, body, policy }: PageParts): string {
  const directives = [
    "default-src 'none'",
    `style-src ${computeHash(style)}`,
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
${body}
</body>
</html>
`;
}

/** A source of the policy that lets exactly this text run. */
function computeHash(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}

/**
 * JSON in which nothing ends the element that it stands in or begins another, and no line ends that JavaScript
 * did not always take for one. A parser of JSON reads what it would have read.
 */
export function escapeScript(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, escapeUnits);
}
