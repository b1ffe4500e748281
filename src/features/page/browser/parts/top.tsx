import { useContext, useEffect } from 'preact/hooks';
import { type PlanDocument, shortCommit } from '../../../../core/plan-document.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import { formatCount, formatNumber, stackName } from '../../../../render/wording.ts';
import { countReading, type Plan } from '../model/plan.ts';
import { Looked, useKept } from '../page.ts';
import { instant } from './notes.tsx';

export type View = 'column' | 'list' | 'timeline';

export type ViewTab = { readonly view: View; readonly title: string };

type TopProps = {
  readonly plan: Plan;
  readonly tabs: readonly ViewTab[];
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly onHelp: () => void;
};

/** The head of the page: the headline, the place, and how much of it was looked at. */
export function Top({ plan, tabs, view, onView, onHelp }: TopProps) {
  const { title, counts, head } = plan;
  return (
    <header class="top">
      <div class="line">
        <p class="where">{listPlaces(head)}</p>
        <div class="tools">
          <ThemeSwitch />
          <button type="button" onClick={onHelp} aria-keyshortcuts="?">
            Keys
          </button>
        </div>
      </div>
      <h1>{sanitiseLine(title)}</h1>
      {counts === '' ? null : <p class="hint">{counts}</p>}
      {view === 'column' ? (
        <>
          <p class="hint">{sanitiseLine(describeCommit(head))}</p>
          <Reading plan={plan} />
        </>
      ) : null}
      {tabs.length < 2 ? null : (
        <nav class="views" aria-label="Views">
          {tabs.map((tab) => (
            <button
              type="button"
              key={tab.view}
              aria-current={tab.view === view ? 'true' : undefined}
              onClick={() => onView(tab.view)}
            >
              {tab.title}
            </button>
          ))}
        </nav>
      )}
    </header>
  );
}

/** The stack and its environment; the platform where the stack has no name. */
function listPlaces({ stack, environment, platform }: PlanDocument) {
  const name = stack === undefined ? platform.base_url : stackName(stack);
  return (
    <>
      <strong>{sanitiseLine(name)}</strong>
      {environment === undefined ? null : ` · ${sanitiseLine(environment)}`}
    </>
  );
}

/** `“No prices over the phone”, commit cbf4c88d1f0a by Robin Vale · planned 2026-11-28 16:18:03 UTC` */
function describeCommit({ stack, created_at: at, purpose }: PlanDocument): string {
  const made = `${purpose === 'drift' || purpose === 'comparison' ? 'compared' : 'planned'} ${instant(at)}`;
  const { commit } = stack ?? {};
  if (commit === undefined) return made;
  const { id, subject, author, is_changed: isChanged } = commit;
  const beside = isChanged ? ', with uncommitted changes' : '';
  return `“${subject}”, commit ${shortCommit(id)} by ${author}${beside} · ${made}`;
}

/** How the changes are read: a bar of what is deleted, by itself and alike, and how much was looked at. */
function Reading({ plan }: Pick<TopProps, 'plan'>) {
  const { looked } = useContext(Looked);
  const { alone, groups } = plan.overview;
  const cards = alone.size + groups.length;
  const { gone, single, alike, calls } = countReading(plan);
  const parts = [
    { look: 'gone', count: gone, word: 'delete', several: 'deletes' },
    { look: 'single', count: single, word: 'by itself', several: 'one by one' },
    { look: 'alike', count: alike, word: 'alike' },
  ].filter(({ count }) => count > 0);
  if (cards === 0) return null;
  const isMixed = alike > 0 && parts.length > 1;
  const least = (gone + single + alike) / 40;
  return (
    <>
      {!isMixed ? null : (
        <div class="share" aria-hidden="true">
          {parts.map(({ look, count }) => (
            <i key={look} class={look} style={{ flexGrow: Math.max(count, least) }} />
          ))}
        </div>
      )}
      <ul class="reading">
        {!isMixed
          ? null
          : parts.map(({ look, count, word, several = word }) => (
              <li key={look}>
                <i class={look} aria-hidden="true" />
                <strong>{formatNumber(count)}</strong> {count === 1 ? word : several}
              </li>
            ))}
        {calls === undefined ? null : <li>{formatCount(calls, 'call')} in 7 days</li>}
        <li class="looked">
          <span role="status">
            {formatNumber(looked.size)} of {formatNumber(cards)} looked at
          </span>
        </li>
      </ul>
    </>
  );
}

const THEMES = ['auto', 'light', 'dark'] as const;

/** Light or dark; `auto` is what the system of the reader says. */
export function ThemeSwitch() {
  const [theme, setTheme] = useKept('theme', THEMES, 'auto');
  useEffect(() => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return (
    <select
      aria-label="Theme"
      value={theme}
      onChange={({ currentTarget }) =>
        setTheme(THEMES.find((one) => one === currentTarget.value) ?? 'auto')
      }
    >
      <option value="auto">System</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
