/**
 * `page/` shows documents in a browser: a plan or drift as one file that needs no network, and what
 * `callsheet ui` serves. What runs in the browser lies in `browser/`; the build bundles it.
 */
import type { PlanDocument } from '../core/plan-document.ts';
import { type Assets, pageAssets } from './assets.ts';
import { framePage } from './frame.ts';
import { packDocument } from './pack.ts';

/** A plan or drift as one HTML file: the document that `--format json` prints, and what shows it. */
export async function renderReport(document: PlanDocument): Promise<string> {
  return frameReport(document, await pageAssets('report'));
}

/** The same with assets at hand. */
export function frameReport(document: PlanDocument, assets: Assets): string {
  const packed = packDocument(document);
  return framePage({
    title: packed.title,
    assets,
    data: JSON.stringify(packed),
    policy: [],
  });
}
