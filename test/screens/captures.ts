import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { renderReport } from '../../src/features/page/render.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { escapeHtml } from '../../src/render/untrusted.ts';
import { closeChromium, openChromium } from '../chromium.ts';
import { foughtChanges, heatDocuments } from '../features/page/edits.ts';
import { openUi } from '../features/page/open-ui.ts';
import { SITUATIONS } from '../render/situations.ts';

/**
 * Captures of every situation of a review as each view shows it, in `.screens/`: the terminal at three widths in a light
 * and a dark theme, the comment with GitHub's style sheet on a phone and a desk, the page at three sizes, and on paper.
 * `.screens/index.html` has them side by side. Whoever changes a view makes them anew and looks at them.
 */
const FOLDER = join(import.meta.dirname, '..', '..', '.screens');
const WANTED = process.env.CALLSHEET_SITUATION ?? '';

const THEMES = {
  light: { text: '#333333', ground: '#ffffff' },
  dark: { text: '#cccccc', ground: '#1e1e1e' },
} as const;
const COLUMNS = [60, 80, 120];
const COMMENT_WIDTHS = [390, 1280];
const PAGE_SIZES = [
  [390, 844],
  [768, 1024],
  [1280, 800],
] as const;
/** Pixels of a column of the terminal's font. */
const COLUMN = 8.45;
/** Pixels of a picture: beyond them nobody looks. */
const TALLEST = 6000;

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const taken: string[] = [];

afterAll(async () => {
  await closeChromium();
  const items = taken.map(
    (file) =>
      `<figure><figcaption>${file}</figcaption><a href="${file}"><img src="${file}"></a></figure>`,
  );
  const style = 'body{display:flex;flex-wrap:wrap;gap:8px}img{height:420px;border:1px solid}';
  writeFileSync(join(FOLDER, 'index.html'), `<style>${style}</style>${items.join('\n')}`);
});

const css = await readFile(
  fileURLToPath(import.meta.resolve('github-markdown-css/github-markdown-light.css')),
  'utf8',
);

const shown = SITUATIONS.filter(({ name }) => name.includes(WANTED));

test.each(shown)('$name', async ({ name, plan }) => {
  const file = name.replaceAll(/[^\w]+/g, '-');
  for (const [theme, { text, ground }] of Object.entries(THEMES)) {
    for (const width of COLUMNS) {
      const printed = renderPlanText(plan, { width, color: true, verbose: false });
      // A terminal breaks a command that is longer than its lines where they end.
      const style = `margin:0;padding:12px;white-space:pre-wrap;word-break:break-all;color:${text};background:${ground};font:14px/1.3 monospace`;
      const html = `<body style="margin:0"><pre style="${style}">${terminalHtml(printed)}</pre>`;
      await capture(html, `${file}.terminal.${width}.${theme}.png`, [
        Math.ceil(width * COLUMN) + 30,
        400,
      ]);
    }
  }
  const comment = micromark(renderPlanMarkdown(plan), {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  // GitHub makes alerts of quotations that begin so.
  const drawn = comment.replaceAll(
    /<blockquote>\n<p>\[!(\w+)\]\n([\s\S]*?)<\/blockquote>/g,
    (_, sort: string, text: string) =>
      `<div class="markdown-alert markdown-alert-${sort.toLowerCase()}"><p class="markdown-alert-title">${sort}</p><p>${text}</div>`,
  );
  for (const width of COMMENT_WIDTHS) {
    const html = `<meta name="viewport" content="width=device-width"><style>${css}</style><body style="margin:16px" class="markdown-body">${drawn}`;
    await capture(html, `${file}.comment.${width}.png`, [width, 600]);
  }
  const report = await renderReport(plan);
  for (const size of PAGE_SIZES) await capture(report, `${file}.page.${size[0]}.png`, size);
  const { page, close } = await open(report, [1280, 800]);
  await page.pdf({ path: join(FOLDER, `${file}.pdf`), format: 'A4' });
  await close();
});

const HEAT = 'the paragraphs of a prompt against its edits';

test.runIf(HEAT.includes(WANTED))(HEAT, async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [width, height] of [PAGE_SIZES[0], PAGE_SIZES[2]]) {
      const documents = heatDocuments(foughtChanges());
      const page = await openUi(documents, { colorScheme, viewport: { width, height } });
      await page.getByRole('button', { name: 'agent.desk' }).click();
      await page.locator('.cells button').nth(1).click();
      await shoot(page, `heat.${width}.${colorScheme}.png`, width);
    }
  }
});

async function open(html: string, [width, height]: readonly [number, number]) {
  const browser = await openChromium();
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: 'light' });
  const page = await context.newPage();
  await page.setContent(html, { waitUntil: 'load' });
  return { page, close: () => context.close() };
}

async function capture(html: string, name: string, size: readonly [number, number]): Promise<void> {
  const { page, close } = await open(html, size);
  await shoot(page, name, size[0]);
  await close();
}

async function shoot(page: Page, name: string, width: number): Promise<void> {
  await page.waitForTimeout(100);
  expect(await scrollsSideways(page), `${name} scrolls sideways`).toBe(false);
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  const clip = { x: 0, y: 0, width, height: Math.min(height, TALLEST) };
  await page.screenshot({ path: join(FOLDER, name), fullPage: true, clip });
  taken.push(name);
}

function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
}

const CODE = new RegExp(`${String.fromCharCode(27)}\\[([\\d;]*)m`);

/** Text with the colours of a terminal as HTML. The colours are those that no theme changes. */
function terminalHtml(text: string): string {
  let html = '';
  let isOpen = false;
  for (const [at, part] of text.split(CODE).entries()) {
    if (at % 2 === 0) html += escapeHtml(part);
    else {
      if (isOpen) html += '</span>';
      isOpen = part !== '0' && part !== '';
      if (isOpen) html += `<span style="${styleOf(part.split(';').map(Number))}">`;
    }
  }
  return isOpen ? `${html}</span>` : html;
}

function styleOf(codes: readonly number[]): string {
  const styles: string[] = [];
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    if (code === 1) styles.push('font-weight:bold');
    if (code === 4) styles.push('text-decoration:underline');
    if (code === 9) styles.push('text-decoration:line-through');
    if (code === 38 || code === 48) {
      const name = code === 38 ? 'color' : 'background';
      styles.push(`${name}:rgb(${colour(codes[at + 2] ?? 16).join()})`);
      at += 2;
    }
  }
  return styles.join(';');
}

/** The 240 colours that no theme changes: a cube of six levels, then greys. */
function colour(index: number): readonly number[] {
  if (index >= 232) return Array(3).fill(8 + (index - 232) * 10);
  const levels = [0, 95, 135, 175, 215, 255];
  const at = Math.max(index - 16, 0);
  return [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((level) => levels[level] ?? 0);
}
