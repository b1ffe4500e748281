import { CallsheetError } from '../../core/errors.ts';
import { kindNamed } from '../../kinds/index.ts';
import { createReader } from '../../live/reader.ts';
import { isAhead } from '../../plan/edits.ts';
import { renderVersionDiffText } from '../../render/read/version-diff.ts';
import type { Context } from '../context.ts';
import type { PlatformSession } from '../platform-session.ts';
import type { Found } from '../read/find.ts';
import { type ReadFormat, show } from '../read/show.ts';
import { compareVersions, versionCalled } from './compare.ts';
import { type Listed, readVersions } from './read-history.ts';
import { readReceipts } from './receipts.ts';
import { knownVersions, type Live } from './versions.ts';

/** The most that a list gives (Limits). */
const MOST = 100;
/** An entry appears "within a few seconds" (revert rule 5). */
const YOUNG_MS = 30_000;

type Compared = readonly [number, number];

/** The versions that `--diff` names. Throws `CallsheetError('usage')` where they are none. */
export function comparedIn({
  diff,
  format,
}: {
  readonly diff?: readonly string[];
  readonly format: ReadFormat;
}): Compared | undefined {
  if (diff === undefined) return undefined;
  const [one = 0, other = 0] = diff.map((text) => (/^[1-9]\d*$/.test(text) ? Number(text) : 0));
  if (diff.length !== 2 || one === 0 || other === 0) {
    throw new CallsheetError('usage', '--diff takes the ids of two versions', {
      hint: 'They stand in the first column of callsheet history AGENT: --diff 41 43',
    });
  }
  if (format !== 'csv') return [one, other];
  throw new CallsheetError('usage', '--diff is shown as text or JSON, not as CSV');
}

/** How two versions of an agent differ, as far as Callsheet has copies of them. */
export async function showDiff(
  agent: Found,
  [one, other]: Compared,
  { format }: { readonly format: ReadFormat },
  session: PlatformSession,
  context: Context,
): Promise<void> {
  const kind = kindNamed('agent');
  const receipts = await readReceipts(agent.id, session, context);
  const { live, entries } = await readLive(agent, session, context);
  const known = knownVersions(kind, entries, receipts, live);
  const versions = [one, other].map((id) => versionCalled(id, agent.label, entries, known));
  const [from, to] = versions;
  if (from === undefined || to === undefined) throw new Error('two versions are compared');
  const fields = compareVersions(kind, from, to, known.values());
  const { terminal } = context;
  const told = (version: typeof from) => ({
    entry: version.entry,
    from: version.from,
    partial: version.isPartial,
  });
  show(
    format === 'json' ? 'json' : 'text',
    {
      text: () =>
        renderVersionDiffText(agent.label, [told(from), told(to)], fields, terminal.render),
      json: () => ({
        format: 'callsheet-history-diff',
        version: 1,
        agent_id: agent.id,
        before: told(from),
        after: told(to),
        fields: fields.map((field) => ({ ...field, kept: { ...field.kept } })),
      }),
    },
    terminal,
  );
}

/** The history, and what is live where it belongs to the newest entry for sure. */
async function readLive(
  agent: Found,
  session: PlatformSession,
  { now }: Pick<Context, 'now'>,
): Promise<Pick<Listed, 'entries'> & { readonly live: Live | undefined }> {
  const { client } = session;
  const earlier = await readVersions(agent, 2, session);
  const kind = kindNamed('agent');
  const found = await createReader(client).read(kind, { id: agent.id, scope: {} }, new Set());
  const { entries } = await readVersions(agent, MOST, session);
  const [newest] = entries;
  const updated = found?.record.updated_at;
  const isYoung =
    typeof updated === 'string' &&
    now().getTime() - Date.parse(updated) < YOUNG_MS &&
    isAhead(updated, entries);
  const isSettled = newest !== undefined && newest.id === earlier.entries[0]?.id && !isYoung;
  const live =
    found && isSettled && found.extent === 'whole'
      ? { entry: newest.id, document: found.document }
      : undefined;
  return { live, entries };
}
