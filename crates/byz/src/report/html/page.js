// Reads numbers off figures and switches curves. The page is complete without it.
(function () {
  'use strict';
  var reading = document.getElementById('reading');
  var all = function (selector, root) { return Array.from((root || document).querySelectorAll(selector)); };
  var numbers = function (text) { return text.split(' ').map(Number); };

  // Words beside a place on the screen, within the window.
  function say(lines, left, top) {
    reading.replaceChildren.apply(reading, lines.map(function (line) {
      var row = document.createElement('div');
      row.textContent = line.text;
      if (line.series !== undefined) row.className = 'k k' + line.series % 7;
      return row;
    }));
    reading.hidden = false;
    var box = reading.getBoundingClientRect();
    var width = document.documentElement.clientWidth;
    var x = left + 14 + box.width > width ? left - 14 - box.width : left + 14;
    var y = top - box.height - 10 < 0 ? top + 18 : top - box.height - 10;
    reading.style.left = Math.max(4, Math.min(x, width - box.width - 4)) + window.scrollX + 'px';
    reading.style.top = y + window.scrollY + 'px';
  }
  function hush() {
    reading.hidden = true;
    all('.cursor').forEach(function (line) { line.remove(); });
  }

  // From the screen to the figure and back.
  function toFigure(svg, event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  }
  function toScreen(svg, x, y) {
    return new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
  }

  // A panel of curves.
  function panel(group) {
    var svg = group.ownerSVGElement;
    var x = numbers(group.dataset.x), y = numbers(group.dataset.y);
    var series = all('.series', group).map(function (element) {
      var points = element.dataset.v ? element.dataset.v.split(';') : [];
      return {
        element: element, label: element.dataset.label, index: Number(element.dataset.series),
        points: points.map(function (point) {
          var parts = point.split(' ');
          return { at: Number(parts[0]), name: parts[1], mean: parts[2], std: parts[3] };
        })
      };
    });
    var axis = group.dataset.axis === 'log' ? Math.log : function (value) { return value; };
    var place = function (value) {
      return x[0] + (x[1] - x[0]) * (axis(value) - axis(x[2])) / (axis(x[3]) - axis(x[2]));
    };
    var visible = function () {
      return series.filter(function (one) { return one.points.length && !one.element.classList.contains('off'); });
    };
    var nearest = function (points, at) {
      return points.reduce(function (best, point) {
        return Math.abs(place(point.at) - at) < Math.abs(place(best.at) - at) ? point : best;
      });
    };
    return {
      holds: function (p) { return p.x >= x[0] - 4 && p.x <= x[1] + 4 && p.y >= y[0] && p.y <= y[1]; },
      start: function () { return { x: x[1], y: (y[0] + y[1]) / 2 }; },
      move: function (p, dx) {
        var shown = visible();
        if (!shown.length) return p;
        var points = shown[0].points, k = points.indexOf(nearest(points, p.x));
        k = Math.max(0, Math.min(points.length - 1, k + dx));
        return { x: place(points[k].at), y: p.y };
      },
      read: function (p) {
        var shown = visible();
        hush();
        if (!shown.length) return;
        var first = nearest(shown[0].points, p.x), at = place(first.at);
        var cursor = document.createElementNS('http://www.w3.org/2000/svg', 'path');
        cursor.setAttribute('class', 'cursor');
        cursor.setAttribute('d', 'M' + at + ' ' + y[0] + 'V' + y[1]);
        group.append(cursor);
        var lines = [{ text: [group.dataset.title, group.dataset.name + ' ' + first.name].filter(Boolean).join(', ') }];
        shown.forEach(function (one) {
          var point = nearest(one.points, at);
          var where = point.name === first.name ? '' : ' (' + point.name + ')';
          lines.push({ text: one.label + where + ': ' + point.mean + ' ± ' + point.std, series: one.index });
        });
        var screen = toScreen(svg, at, p.y);
        say(lines, screen.x, screen.y);
      }
    };
  }

  // A map of weights.
  function weights(group) {
    var svg = group.ownerSVGElement, place = numbers(group.dataset.place), honest = Number(group.dataset.honest);
    var rounds = group.dataset.rounds.split(' ');
    var rows = group.dataset.w.split(';').map(numbers);
    var step = place[1] / rounds.length;
    var top = function (worker) { return place[2] + worker * place[3] + (worker >= honest ? place[4] : 0); };
    var worker = function (y) {
      var below = y - place[2], last = honest * place[3];
      return Math.floor((below < last ? below : Math.max(last, below - place[4])) / place[3]);
    };
    var column = function (x) { return Math.floor((x - place[0]) / step); };
    var inside = function (p) { return rows[worker(p.y)] !== undefined && rounds[column(p.x)] !== undefined; };
    return {
      holds: inside,
      start: function () { return { x: place[0] + step * (rounds.length - 0.5), y: top(rows.length - 1) + place[3] / 2 }; },
      move: function (p, dx, dy) {
        var w = Math.max(0, Math.min(rows.length - 1, worker(p.y) + dy));
        var next = { x: p.x + dx * step, y: top(w) + place[3] / 2 };
        return inside(next) ? next : p;
      },
      read: function (p) {
        var w = worker(p.y), k = column(p.x), screen = toScreen(svg, p.x, p.y);
        hush();
        say([
          { text: 'round ' + rounds[k] + ', worker ' + w + (w >= honest ? ' (Byzantine)' : '') },
          { text: 'weight ' + (rows[w][k] / 1000).toFixed(3) }
        ], screen.x, screen.y);
      }
    };
  }

  // Pointing, tapping, and arrow keys.
  function listen(group, part) {
    var svg = group.ownerSVGElement, at = null;
    var point = function (event) {
      var p = toFigure(svg, event);
      if (part.holds(p)) part.read(at = p);
    };
    svg.addEventListener('pointermove', point);
    svg.addEventListener('click', point);
    svg.addEventListener('pointerleave', hush);
    group.setAttribute('tabindex', '0');
    group.setAttribute('role', 'img');
    group.setAttribute('aria-label', (group.dataset.title || svg.getAttribute('aria-label')) + ': the arrow keys read values');
    group.addEventListener('focus', function () {
      if (group.matches(':focus-visible')) part.read(at = at || part.start());
    });
    group.addEventListener('blur', hush);
    group.addEventListener('keydown', function (event) {
      var moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      var move = moves[event.key];
      if (event.key === 'Escape') hush();
      if (!move) return;
      event.preventDefault();
      part.read(at = part.move(at || part.start(), move[0], move[1]));
    });
  }
  all('.panel[data-x]').forEach(function (group) { listen(group, panel(group)); });
  all('.weights[data-w]').forEach(function (group) { listen(group, weights(group)); });
  all('[data-read]').forEach(function (cell) {
    var read = function () {
      var box = cell.getBoundingClientRect();
      say([{ text: cell.dataset.read }], box.right - box.width / 2, box.top);
    };
    all('title', cell).forEach(function (title) { title.remove(); });
    cell.setAttribute('tabindex', '0');
    cell.setAttribute('aria-label', cell.dataset.read);
    ['pointerenter', 'focus', 'click'].forEach(function (name) { cell.addEventListener(name, read); });
    ['pointerleave', 'blur'].forEach(function (name) { cell.addEventListener(name, hush); });
  });

  // Legends.
  all('.legend button').forEach(function (button) {
    button.addEventListener('click', function () {
      var on = button.getAttribute('aria-pressed') !== 'true';
      hush();
      button.setAttribute('aria-pressed', String(on));
      all('.series[data-series="' + button.dataset.series + '"]', button.closest('figure')).forEach(function (curve) {
        curve.classList.toggle('off', !on);
      });
    });
  });

  // A list of cells in the place of their folds.
  all('.trust').forEach(function (figure) {
    var folds = all('details', figure), choose = figure.querySelector('.choose'), list = choose.querySelector('select');
    if (folds.length < 2) return;
    var show = function () {
      folds.forEach(function (fold, k) { fold.open = k === list.selectedIndex; fold.hidden = !fold.open; });
    };
    folds.forEach(function (fold) {
      list.add(new Option(fold.querySelector('summary').textContent, '', fold.open, fold.open));
      fold.querySelector('summary').hidden = true;
    });
    list.addEventListener('change', show);
    choose.hidden = false;
    show();
  });
  document.documentElement.setAttribute('data-ready', 'yes');
})();
