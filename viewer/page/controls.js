// Buttons and keys.

const by = id => document.getElementById(id);

/** Connects buttons and keys with what they do: `play`, `step(n)`, `go(index)`, `end`, `fit`, ... */
export function connect(actions) {
  by('start').addEventListener('click', () => actions.go(0));
  by('back').addEventListener('click', () => actions.step(-1));
  by('play').addEventListener('click', actions.play);
  by('forward').addEventListener('click', () => actions.step(1));
  by('end').addEventListener('click', actions.end);
  by('soft').addEventListener('click', actions.soft);
  by('fit').addEventListener('click', actions.fit);
  by('help-button').addEventListener('click', help);
  by('time').addEventListener('input', event => actions.go(Number(event.target.value)));
  by('speed').addEventListener('change', event => actions.speed(Number(event.target.value)));
  by('field').addEventListener('change', event => actions.field(event.target.value));
  by('forces').addEventListener('change', event => actions.forces(event.target.value));
  const keys = {
    ' ': actions.play,
    ArrowLeft: () => actions.step(-1),
    ArrowRight: () => actions.step(1),
    Home: () => actions.go(0),
    End: actions.end,
    f: actions.fit,
    F: actions.fit,
    s: actions.soft,
    S: actions.soft,
    '?': help,
  };
  window.addEventListener('keydown', event => {
    const chosen = keys[event.key];
    // A choice that is open uses the arrows itself; with Ctrl and so on they are the browser's.
    if (!chosen || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'SELECT') return;
    if (by('help').open) return;
    event.preventDefault();
    chosen();
  });
}

function help() {
  const dialog = by('help');
  if (!dialog.open) dialog.showModal();
}
