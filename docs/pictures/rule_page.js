"use strict";
// The pages of the rules have what a picture shows where it is drawn.
document.querySelectorAll(".picture").forEach((holder, index) => {
  holder.dataset.picture = index;
  drawPicture(holder, JSON.parse(holder.querySelector("script").textContent));
});
