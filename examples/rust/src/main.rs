// SPDX-License-Identifier: Apache-2.0
fn main() {
    let x: Vec<f32> = (0..8).map(|i| i as f32).collect();
    let mut y = vec![1.0; 8];
    match saxpy::saxpy(10.0, &x, &mut y) {
        Ok(()) => println!("{y:?}"),
        Err(why) => println!("{why}"),
    }
}
