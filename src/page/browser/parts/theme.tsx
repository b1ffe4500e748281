import { useEffect } from 'preact/hooks';
import { useKept } from '../kept.ts';

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
